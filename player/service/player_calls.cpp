// What a player admits of its referees, what it remembers of their calls, and its receipts.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "common/agent/identity/match_credential.h"
#include "player/service/player_service.h"

namespace league::player::service {
namespace {

using core::Error;
using core::ErrorCode;

/// How long after ROUND_COMPLETED the results that did not arrive are asked for: GAME_OVER may
/// still be on its way.
constexpr std::chrono::seconds kResultGrace{1};

std::tuple<int, int> play_of(const envelope::PlayContext& context) {
  return {context.attempt.value_or(0), context.play.value_or(0)};
}

}  // namespace

bool PlayerService::gives_receipts() const {
  return options_.commits && !options_.standalone && identity_.is_at_home() &&
         !identity_.receipt_key.empty();
}

int PlayerService::proven_attempt(const envelope::Envelope& envelope) const {
  if (options_.standalone || !envelope.match_id || !envelope.auth_token) return 0;
  core::AuthToken own;
  {
    std::lock_guard lock(mutex_);
    if (!identity_.is_at_home()) return 0;
    const auto open = open_matches_.find(*envelope.match_id);
    if (open != open_matches_.end() && !open->second.credential.empty() &&
        open->second.credential.matches(envelope.auth_token->reveal()))
      return open->second.proven_attempt;
    own = identity_.token;
  }
  return agent::identity::credential_attempt(own, *envelope.match_id, envelope.auth_token->reveal())
      .value_or(0);
}

PlayerService::AnsweredCall PlayerService::begin_call(const envelope::Envelope& envelope,
                                                      const envelope::PlayContext& context) const {
  AnsweredCall call{.match = envelope.match_id.value_or(core::MatchId{}),
                    .proven_attempt = proven_attempt(envelope),
                    .record = {},
                    .arrived = deps_.clock.steady_now()};
  call.record = {.message_type = std::string(envelope::wire_name(envelope.type)),
                 .attempt = call.proven_attempt,
                 .play = context.play.value_or(0),
                 .at = deps_.clock.utc_now().to_log()};
  return call;
}

std::optional<Error> PlayerService::objection_to(
    const AnsweredCall& call, const envelope::PlayContext& context,
    const std::optional<std::string>& draw_commitment) const {
  if (options_.standalone || !identity_.is_at_home()) return std::nullopt;
  if (call.proven_attempt > 0 && context.attempt && *context.attempt != call.proven_attempt)
    return Error{ErrorCode::kInvalidFieldValue,
                 "context.attempt is " + std::to_string(*context.attempt) +
                     ", but auth_token is the credential of attempt " +
                     std::to_string(call.proven_attempt),
                 "/context/attempt"};
  const auto announced = announced_.find(call.match);
  const auto shown = credentials_.find(call.match);
  const bool is_ours = shown == credentials_.end() || shown->second == "match";
  const auto open = open_matches_.find(call.match);
  const OpenMatch* known = open == open_matches_.end() ? nullptr : &open->second.match;
  // What was promised first: the announcement's commitment or, if it did not arrive, that of the
  // first invitation.
  std::optional<std::string> promised;
  if (known != nullptr && !known->draw_commitment.empty()) promised = known->draw_commitment;
  bool must_be_named = false;
  if (announced != announced_.end() && announced->second.draw_commitment) {
    promised = announced->second.draw_commitment;
    must_be_named = is_ours;
  }
  if (promised && (draw_commitment || must_be_named) && draw_commitment != promised)
    return Error{ErrorCode::kCommitmentMismatch,
                 "draw_commitment is not the one that was announced for this match, so the seed of "
                 "the draw may have been chosen later",
                 "/draw_commitment"};
  if (known != nullptr && known->attempt > 0 && context.attempt &&
      play_of(context) < std::tuple(known->attempt, known->play))
    return Error{ErrorCode::kStaleAttempt,
                 "a later attempt or play of this match has begun: attempt " +
                     std::to_string(known->attempt) + ", play " + std::to_string(known->play),
                 "/context"};
  return std::nullopt;
}

std::optional<Error> PlayerService::objection_to_reveal(const AnsweredCall& call,
                                                        const envelope::ChoiceContext& told) const {
  const envelope::PlayContext context{.attempt = told.attempt, .play = told.play};
  const auto open = open_matches_.find(call.match);
  const OpenMatch* known = open == open_matches_.end() ? nullptr : &open->second.match;
  auto commitment = told.draw_commitment;
  if (!commitment && known != nullptr && !known->draw_commitment.empty())
    commitment = known->draw_commitment;
  if (commitment) {
    if (auto objection = objection_to(call, context, commitment)) return objection;
  }
  if (!gives_receipts() || !told.attempt) return std::nullopt;
  if (known == nullptr || play_of(context) != std::tuple(known->attempt, known->play))
    return Error{ErrorCode::kMatchNotOpen,
                 "this player was not invited to this attempt and play of the match; send "
                 "GAME_INVITATION first",
                 "/context"};
  return std::nullopt;
}

void PlayerService::refuse(AnsweredCall call, agent::peers::Reply reply, const Error& error,
                           bool is_callers_fault) {
  call.record.refused = std::string(core::wire_code(error.code));
  call.record.reason = error.message;
  call.record.is_callers_fault = is_callers_fault;
  if (call.proven_attempt > 0) note_answered(std::move(call));
  reply.refuse(error);
}

std::optional<std::string> PlayerService::receipt_of(
    const OpenMatch& match,
    const std::function<std::string(const game::ReceiptScope&)>& text_of) const {
  std::lock_guard lock(mutex_);
  if (!gives_receipts() || match.attempt == 0) return std::nullopt;
  const std::string id = match.match_id.str();
  return game::receipt_of(identity_.receipt_key,
                          text_of({.league_key = identity_.league_key,
                                   .match_id = id,
                                   .attempt = match.attempt,
                                   .play = match.play,
                                   .draw_commitment = match.draw_commitment}));
}

std::optional<std::string> PlayerService::join_receipt(const OpenMatch& match) const {
  return receipt_of(match, [&match](const game::ReceiptScope& scope) {
    return game::join_receipt_text(scope, true, match.commitment().value_or(std::string()));
  });
}

std::optional<std::string> PlayerService::choice_receipt(
    const OpenMatch& match, const std::optional<std::string>& shown_commitment) const {
  return receipt_of(match, [&](const game::ReceiptScope& scope) {
    const std::string shown = shown_commitment.value_or(std::string());
    return game::choice_receipt_text(
        scope, {.choice = match.choice, .nonce = match.nonce, .opponent_commitment = shown});
  });
}

void PlayerService::dispute_loss(const core::MatchId& match) {
  std::optional<envelope::MatchRecord> record;
  std::optional<KnownMatch> known;
  {
    std::lock_guard lock(mutex_);
    if (!gives_receipts()) return;
    record = calls_.record_of(match, core::PlayerId(identity_.id));
    known = known_match(match);
  }
  if (!record || !known) return;
  if (auto reason = contradiction_of_loss(*record, options_.limits)) dispute(known->notes, *reason);
}

void PlayerService::take_results(const std::vector<envelope::PlayedMatchRow>& results) {
  for (const envelope::PlayedMatchRow& row : results) {
    {
      std::lock_guard lock(mutex_);
      if (!announced_.contains(row.match_id)) continue;  // it has its GAME_OVER
    }
    if (row.result == "LOSS" && row.termination != "NORMAL") dispute_loss(row.match_id);
    std::lock_guard lock(mutex_);
    announced_.erase(row.match_id);
  }
}

void PlayerService::on_round_completed(agent::host::Call<envelope::RoundCompleted> call) {
  agent::host::acknowledge_with_head(std::move(call.reply), deps_.heads);
  if (!on_missing_result_) return;
  std::vector<core::MatchId> unfinished;
  {
    std::lock_guard lock(mutex_);
    if (!gives_receipts()) return;
    for (const auto& [match, news] : announced_) unfinished.push_back(match);
  }
  if (unfinished.empty()) return;
  deps_.timer.schedule(kResultGrace, [this, unfinished = std::move(unfinished)] {
    {
      std::lock_guard lock(mutex_);
      if (std::ranges::none_of(unfinished,
                               [this](const auto& match) { return announced_.contains(match); }))
        return;
    }
    on_missing_result_();
  });
}

}  // namespace league::player::service
