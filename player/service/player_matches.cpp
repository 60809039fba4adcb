#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/core/text.h"
#include "player/service/player_service.h"

/// What a player does in its matches; the rest of PlayerService is in player_service.cpp.
namespace league::player::service {
namespace {

using core::Error;
using core::Result;
using envelope::MessageType;

constexpr std::size_t kMostOpenMatches = 1024;
constexpr std::size_t kLongestReason = 200;
constexpr int kMostPlays = 1'000'000'000;  ///< what the notes of open matches can hold

/// Removes the first entry of a map that has kMostOpenMatches entries. No player is in this many
/// matches at once: most of the entries are from matches whose end was never reported.
template <typename Map>
void make_room(Map& map) {
  if (map.size() >= kMostOpenMatches) map.erase(map.begin());
}

}  // namespace

Result<void> PlayerService::check_game(const std::string& game_type) const {
  std::lock_guard lock(mutex_);
  if (strategies_.contains(game_type)) return {};
  auto rules = options_.games.find(game_type);
  if (!rules) return rules.error();
  return Error{core::ErrorCode::kGameTypeNotSupported,
               "strategy \"" + options_.strategy + "\" does not play " + game_type, "/game_type"};
}

void PlayerService::on_announcement(agent::host::Call<envelope::RoundAnnouncement> call) {
  call.reply.acknowledge();
  core::PlayerId self;
  RefereeCredentials shown;
  {
    std::lock_guard lock(mutex_);
    self = core::PlayerId(identity_.id);
    for (envelope::AnnouncedMatch& match : call.message.matches) {
      if (match.player_a_id != self && match.player_b_id != self) continue;
      const core::MatchId id = match.match_id;
      calls_.expect(id);
      shown.emplace(id, match.referee_credential.value_or("match"));
      make_room(credentials_);
      credentials_.insert_or_assign(id, shown.at(id));
      make_room(announced_);
      announced_.insert_or_assign(id, std::move(match));
    }
  }
  if (deps_.open_matches == nullptr) return;
  for (const auto& [match, credential] : shown) {
    if (auto kept = deps_.open_matches->keep_credential(self, match, credential); !kept)
      agent::runtime::log::warn("{}: the referee of {} is not known after a restart",
                                kept.error().message, match.str());
  }
}

void PlayerService::on_invitation(agent::host::Call<envelope::GameInvitation> call) {
  const auto context = call.message.context.value_or(envelope::PlayContext{});
  AnsweredCall answered = begin_call(call.envelope, context);
  std::optional<Error> objection;
  if (auto known = check_game(call.message.game_type); !known) {
    return refuse(std::move(answered), std::move(call.reply), known.error(), false);
  }
  {
    std::lock_guard lock(mutex_);
    objection = objection_to(answered, context, call.message.draw_commitment);
  }
  if (objection) return refuse(std::move(answered), std::move(call.reply), *objection, true);
  if (!deps_.ask || !call.envelope.match_id) return accept(std::move(call), std::move(answered));
  const auto self = own_id(call.message.player_id.value_or(core::PlayerId{}));
  OpenMatch match;
  {
    std::lock_guard lock(mutex_);
    match = join(call.envelope, call.message, self, answered.proven_attempt);
  }
  when_chosen(std::move(match), std::move(call), std::move(answered), &PlayerService::accept);
}

template <typename Message>
void PlayerService::when_chosen(OpenMatch match, agent::host::Call<Message> call,
                                AnsweredCall answered,
                                void (PlayerService::*then)(agent::host::Call<Message>,
                                                            AnsweredCall)) {
  // A choice that holds for the match is not made again.
  if (!match.choice.empty()) return (this->*then)(std::move(call), std::move(answered));
  const auto id = match.match_id;
  auto held = std::make_shared<std::pair<agent::host::Call<Message>, AnsweredCall>>(
      std::move(call), std::move(answered));
  deps_.ask(std::move(match), [this, id, held, then](std::string choice) {
    {
      std::lock_guard lock(mutex_);
      make_room(asked_choices_);
      asked_choices_.insert_or_assign(id, std::move(choice));
    }
    (this->*then)(std::move(held->first), std::move(held->second));
  });
}

void PlayerService::accept(agent::host::Call<envelope::GameInvitation> call,
                           AnsweredCall answered) {
  const auto self = own_id(call.message.player_id.value_or(core::PlayerId{}));
  envelope::GameJoinAck ack{
      .player_id = self, .arrival_timestamp = deps_.clock.utc_now(), .accept = true};
  if (call.envelope.match_id) {
    const OpenMatch match = joined(call.envelope, call.message, self, answered.proven_attempt);
    ack.choice_commitment = match.commitment();
    ack.receipt = join_receipt(match);
  }
  answered.record.accept = true;
  answered.record.choice_commitment = ack.choice_commitment;
  answered.record.receipt = ack.receipt;
  auto envelope =
      reply_envelope(MessageType::kGameJoinAck, call.envelope, self, answered.proven_attempt);
  answer(std::move(answered), std::move(call.reply), envelope::encode(envelope, ack));
}

OpenMatch PlayerService::joined(const envelope::Envelope& envelope,
                                const envelope::GameInvitation& invitation,
                                const core::PlayerId& self, int proven_attempt) {
  OpenMatch match;
  bool is_new = false;
  std::optional<OpenMatch> of_other_process;
  if (deps_.open_matches != nullptr)
    of_other_process = deps_.open_matches->find_shared(self, *envelope.match_id);
  {
    std::lock_guard lock(mutex_);
    if (of_other_process) make_room(open_matches_);
    if (of_other_process)
      open_matches_.try_emplace(*envelope.match_id,
                                HeldMatch{.match = std::move(*of_other_process)});
    OpenMatch& joined = join(envelope, invitation, self, proven_attempt);
    is_new = !joined.is_committed();
    // A guest does not know to whom its commitment is shown, so it plays by the published protocol.
    const bool commits = options_.commits && !options_.standalone && identity_.is_at_home();
    if (is_new && commits && invitation.draw_commitment && joined.choice.empty()) {
      const auto told = invitation.context.value_or(envelope::PlayContext{});
      commit(joined, choose(joined, {.game = told.game, .history = told.history}),
             deps_.nonces != nullptr ? *deps_.nonces : crypto_random_);
    }
    match = joined;
  }
  if (!match.is_committed() || deps_.open_matches == nullptr) return match;
  auto kept = deps_.open_matches->keep(match);
  if (kept || !is_new) return match;
  // Do not commit to a choice that could not be repeated after a crash.
  agent::runtime::log::error("plays {} without a commitment: {}", match.match_id.str(),
                             kept.error().message);
  match.choice = match.nonce = "";
  std::lock_guard lock(mutex_);
  auto open = open_matches_.find(match.match_id);
  if (open != open_matches_.end()) open->second.match.choice = open->second.match.nonce = "";
  return match;
}

OpenMatch& PlayerService::join(const envelope::Envelope& envelope,
                               const envelope::GameInvitation& invitation,
                               const core::PlayerId& self, int proven_attempt) {
  const auto context = invitation.context.value_or(envelope::PlayContext{});
  OpenMatch invited{.player_id = self,
                    .league_id = envelope.league_id.value_or(identity_.league),
                    .match_id = *envelope.match_id,
                    .round_id = envelope.round_id.value_or(0),
                    .game_type = invitation.game_type,
                    .side = invitation.role_in_match == envelope::PlayerRole::kPlayerA
                                ? game::Side::kA
                                : game::Side::kB,
                    .opponent_id = invitation.opponent_id,
                    .draw_commitment = invitation.draw_commitment.value_or(""),
                    .attempt = std::clamp(context.attempt.value_or(0), 0, kMostPlays),
                    .play = std::clamp(context.play.value_or(0), 0, kMostPlays)};
  auto open = open_matches_.find(invited.match_id);
  if (open == open_matches_.end()) {
    make_room(open_matches_);
    open = open_matches_.emplace(invited.match_id, HeldMatch{}).first;
  }
  HeldMatch& held = open->second;
  held.match = after_invitation(&held.match, std::move(invited));
  // A standalone player checks no credentials, so it does not remember any.
  if (!options_.standalone) held.credential = envelope.auth_token.value_or(core::AuthToken{});
  held.proven_attempt = proven_attempt;
  return held.match;
}

std::string PlayerService::choose(const OpenMatch& match,
                                  const envelope::ChoiceContext& told) const {
  StrategyInput context{.league_id = match.league_id,
                        .match_id = match.match_id,
                        .round_id = match.round_id,
                        .opponent_id = match.opponent_id,
                        .history = history_,
                        .side = match.side};
  if (told.opponent_id) context.opponent_id = *told.opponent_id;
  if (const auto asked = asked_choices_.find(match.match_id); asked != asked_choices_.end())
    return asked->second;
  if (told.your_standings) {
    const auto& own = *told.your_standings;
    context.standings = ResultCounts{.wins = own.wins, .losses = own.losses, .draws = own.draws};
  }
  if (told.game) context.meeting = told.game->meeting;
  for (const auto& [own, theirs] : told.history)
    if (own && theirs) context.told.push_back({*own, *theirs});
  return std::string(strategies_.find(match.game_type)->second(context));
}

PlayerService::Reveal PlayerService::reveal(const envelope::Envelope& envelope,
                                            const envelope::ChooseParityCall& call,
                                            const AnsweredCall& answered) {
  const envelope::ChoiceContext told = call.context.value_or(envelope::ChoiceContext{});
  std::lock_guard lock(mutex_);
  if (auto refusal = objection_to_reveal(answered, told))
    return {.choice = {}, .match = {}, .objection = {}, .refusal = std::move(refusal)};
  auto open = open_matches_.find(envelope.match_id.value_or(core::MatchId{}));
  if (open == open_matches_.end()) {
    const OpenMatch unknown{.league_id = envelope.league_id.value_or(identity_.league),
                            .match_id = envelope.match_id.value_or(core::MatchId{}),
                            .round_id = envelope.round_id.value_or(0),
                            .game_type = call.game_type};
    return {.choice = choose(unknown, told), .match = {}, .objection = {}, .refusal = {}};
  }
  OpenMatch& match = open->second.match;
  Reveal reveal;
  // A repeated call gets the same answer, since the first answer may have been lost.
  if (match.choice.empty()) match.choice = choose(match, told);
  if (told.draw_commitment) open->second.call_commitment = told.draw_commitment;
  const bool is_later_attempt =
      match.revealed_attempt > 0 && match.attempt > match.revealed_attempt;
  const auto& shown = told.opponent_commitment;
  reveal.objection = handed_over(match, shown);
  // Two commitments that count hold for all plays of an attempt. Who has seen the nonce could make
  // another one for the opponent until it wins, so there is no receipt for a second one.
  if (reveal.objection && match.attempt > 0 && !is_later_attempt && gives_receipts())
    reveal.refusal = Error{core::ErrorCode::kCommitmentMismatch, *reveal.objection,
                           "/context/opponent_commitment"};
  // In a later attempt the opponent is at fault, and not this referee: repetitions of its call are
  // answered alike.
  if (is_later_attempt) match.opponent_commitment = shown;
  reveal.choice = match.choice;
  reveal.match = match;
  return reveal;
}

void PlayerService::on_choose(agent::host::Call<envelope::ChooseParityCall> call) {
  const auto told = call.message.context.value_or(envelope::ChoiceContext{});
  AnsweredCall answered = begin_call(call.envelope, {.attempt = told.attempt, .play = told.play});
  if (auto known = check_game(call.message.game_type); !known) {
    return refuse(std::move(answered), std::move(call.reply), known.error(), false);
  }
  answered.record.opponent_commitment = told.opponent_commitment;
  if (!deps_.ask) return reveal_choice(std::move(call), std::move(answered));
  OpenMatch match{.match_id = call.envelope.match_id.value_or(core::MatchId{}),
                  .round_id = call.envelope.round_id.value_or(0),
                  .game_type = call.message.game_type};
  {
    std::lock_guard lock(mutex_);
    const auto open = open_matches_.find(match.match_id);
    if (open != open_matches_.end()) match = open->second.match;
    // The invitation may have had no commitment to choose for; the choice was made all the same.
    const auto asked = asked_choices_.find(match.match_id);
    if (match.choice.empty() && asked != asked_choices_.end()) match.choice = asked->second;
  }
  when_chosen(std::move(match), std::move(call), std::move(answered),
              &PlayerService::reveal_choice);
}

void PlayerService::reveal_choice(agent::host::Call<envelope::ChooseParityCall> call,
                                  AnsweredCall answered) {
  const auto told = call.message.context.value_or(envelope::ChoiceContext{});
  const Reveal revealed = reveal(call.envelope, call.message, answered);
  if (revealed.refusal) {
    refuse(std::move(answered), std::move(call.reply), *revealed.refusal, true);
    if (revealed.objection) dispute(*revealed.match, *revealed.objection);
    return;
  }
  envelope::ChooseParityResponse response{.player_id = own_id(call.message.player_id),
                                          .parity_choice = revealed.choice};
  if (revealed.match && revealed.match->is_committed()) {
    response.choice_nonce = revealed.match->nonce;
    if (deps_.open_matches != nullptr) {
      auto kept = deps_.open_matches->keep(*revealed.match);
      if (!kept) agent::runtime::log::warn("{}", kept.error().message);
    }
  }
  if (revealed.match) response.receipt = choice_receipt(*revealed.match, told.opponent_commitment);
  answered.record.parity_choice = response.parity_choice;
  answered.record.choice_nonce = response.choice_nonce;
  answered.record.receipt = response.receipt;
  auto envelope = reply_envelope(MessageType::kChooseParityResponse, call.envelope,
                                 response.player_id, answered.proven_attempt);
  auto message = envelope::encode(envelope, response);
  if (is_guest()) message["choice"] = response.parity_choice;  // some referees read this field
  answer(std::move(answered), std::move(call.reply), std::move(message));
  if (revealed.objection) dispute(*revealed.match, *revealed.objection);
}

std::optional<KnownMatch> PlayerService::known_match(const core::MatchId& match) const {
  const auto open = open_matches_.find(match);
  const auto announced = announced_.find(match);
  KnownMatch known;
  if (announced != announced_.end()) {
    const envelope::AnnouncedMatch& news = announced->second;
    const bool is_a = news.player_a_id.str() == identity_.id;
    known.notes = {.player_id = core::PlayerId(identity_.id),
                   .league_id = identity_.league,
                   .match_id = match,
                   .game_type = news.game_type,
                   .side = is_a ? game::Side::kA : game::Side::kB,
                   .opponent_id = is_a ? news.player_b_id : news.player_a_id};
    known.draw_commitment = news.draw_commitment;
  }
  const auto shown = credentials_.find(match);
  known.may_be_unproven = shown != credentials_.end() && shown->second != "match";
  if (open != open_matches_.end()) {
    OpenMatch notes = open->second.match;
    if (announced != announced_.end()) {
      notes.side = known.notes.side;
      notes.opponent_id = known.notes.opponent_id;
    }
    known.notes = std::move(notes);
    known.was_invited = true;
    if (!known.draw_commitment && !known.notes.draw_commitment.empty()) {
      known.draw_commitment = known.notes.draw_commitment;
    }
    if (!known.draw_commitment) known.draw_commitment = open->second.call_commitment;
  }
  if (known.notes.match_id.empty()) return std::nullopt;
  return known;
}

std::optional<Error> PlayerService::check_result(const envelope::Envelope& envelope,
                                                 const envelope::GameOver& message) {
  if (options_.standalone || !envelope.match_id) return std::nullopt;
  std::optional<KnownMatch> known;
  game::SharedDefinition rules;
  {
    std::lock_guard lock(mutex_);
    known = known_match(*envelope.match_id);
    if (!known) return std::nullopt;
    if (auto found = options_.games.find(known->notes.game_type)) rules = std::move(*found);
  }
  known->is_guest = is_guest();
  if (!rules) return std::nullopt;
  auto fault = check_game_over(*rules, *known, message);
  if (fault) dispute(known->notes, fault->field + ": " + fault->message);
  return fault;
}

void PlayerService::on_game_over(agent::host::Call<envelope::GameOver> call) {
  if (auto fault = check_result(call.envelope, call.message)) return call.reply.refuse(*fault);
  call.reply.acknowledge();
  const auto self = own_id({});
  const auto& choices = call.message.game_result.choices;
  // The message is about a match of other players.
  if (!options_.standalone && !choices.empty() && !choices.contains(self)) return;
  core::LeagueId league;
  {
    std::lock_guard lock(mutex_);
    league = identity_.league;
  }
  const PlayedMatch match = played_match(call.envelope, call.message, self, league);
  if (match.is_technical && match.verdict == MatchVerdict::kLoss) dispute_loss(match.match_id);
  end_match(match);
}

void PlayerService::end_match(PlayedMatch match) {
  core::PlayerId self;
  bool is_news = false;
  {
    std::lock_guard lock(mutex_);
    self = core::PlayerId(identity_.id);
    if (match.league_id == identity_.league) match.league_key = identity_.league_key;
    open_matches_.erase(match.match_id);
    announced_.erase(match.match_id);
    credentials_.erase(match.match_id);
    asked_choices_.erase(match.match_id);
    is_news = history_.add(match);
  }
  if (deps_.open_matches != nullptr) deps_.open_matches->forget(self, match.match_id);
  if (is_news && on_match_over_) on_match_over_(match);
}

void PlayerService::dispute(const OpenMatch& match, std::string reason) {
  DisputedMatch disputed{.league_id = match.league_id,
                         .league_key = {},
                         .match_id = match.match_id,
                         .round_id = match.round_id,
                         .opponent_id = match.opponent_id,
                         .reason = reason.substr(0, kLongestReason)};
  {
    std::lock_guard lock(mutex_);
    if (match.league_id == identity_.league) disputed.league_key = identity_.league_key;
    if (!history_.dispute(disputed)) return;
  }
  agent::runtime::log::warn("disputes {}: {}", disputed.match_id.str(), disputed.reason);
  if (on_dispute_) on_dispute_(disputed);
}

}  // namespace league::player::service
