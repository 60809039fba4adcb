#include "league_manager/core/player_record.h"

#include <algorithm>

#include "common/core/error_code.h"
#include "common/core/text.h"
#include "game/commitment.h"

namespace league::league_manager {
namespace {

using events::PlayerWord;

constexpr std::size_t kLongestWord = 200;
constexpr std::string_view kInvitation = "GAME_INVITATION";
constexpr std::string_view kChoiceCall = "CHOOSE_PARITY_CALL";

bool has_code(const ReportedFailure& failure, core::ErrorCode code) {
  return failure.error_code == core::wire_code(code);
}

/// Codes of calls that no answer came to; by any other, the player has been reached.
bool is_without_answer(const ReportedFailure& failure) {
  return has_code(failure, core::ErrorCode::kTimeout) ||
         has_code(failure, core::ErrorCode::kConnectionError) ||
         has_code(failure, core::ErrorCode::kPlayerUnavailable);
}

LossPhase phase_of(const ReportedFailure& failure) {
  if (!is_without_answer(failure)) return LossPhase::kAnswered;
  if (failure.phase == "connect") return LossPhase::kConnect;
  if (failure.phase == "sent") return LossPhase::kSent;
  if (failure.phase == "answered") return LossPhase::kAnswered;
  return has_code(failure, core::ErrorCode::kTimeout) ? LossPhase::kSent : LossPhase::kConnect;
}

/// The calls by which the loss is judged: of this attempt and play, and of the failed type where
/// the referee names it.
std::vector<const PlayerCall*> calls_of(const PlayerRecord& record, const ReportedLoss& loss,
                                        const WordFacts& facts) {
  std::vector<const PlayerCall*> calls;
  for (const auto& call : record.calls) {
    if (call.attempt != facts.attempt || call.play != facts.play) continue;
    const bool is_type = loss.call.empty()
                             ? call.message_type == kInvitation || call.message_type == kChoiceCall
                             : call.message_type == loss.call;
    if (is_type) calls.push_back(&call);
  }
  return calls;
}

/// Whether a revealed choice opens the commitment that the player recorded with its join.
bool opens_commitment(const PlayerCall& call, const PlayerRecord& record, const WordFacts& facts) {
  for (const auto& join : record.calls) {
    const bool is_join = join.message_type == kInvitation && join.attempt == facts.attempt &&
                         join.play == facts.play && join.is_answered && join.choice_commitment;
    if (!is_join) continue;
    if (!call.nonce) return false;
    if (game::choice_commitment({facts.draw_commitment, facts.match_id, facts.player_id,
                                 *call.choice, *call.nonce}) != *join.choice_commitment)
      return false;
  }
  return true;
}

std::chrono::milliseconds limit_of(std::string_view call, const WordFacts& facts) {
  return call == kInvitation ? facts.join_limit : facts.choice_limit;
}

/// Whether the call got an answer, within its limit, that keeps the player in the match.
bool is_answered_well(const PlayerCall& call, const PlayerRecord& record, const WordFacts& facts) {
  if (!call.is_answered || call.refused || !call.answer_ms) return false;
  const auto limit = limit_of(call.message_type, facts);
  if (*call.answer_ms < 0 || std::chrono::milliseconds(*call.answer_ms) > limit) return false;
  if (call.message_type == kInvitation) return call.accept.value_or(false);
  return call.choice && facts.rules.check_choice(*call.choice) &&
         opens_commitment(call, record, facts);
}

std::string name_of_call(const ReportedLoss& loss) {
  return loss.call.empty() ? "call" : core::shown(loss.call, 40);
}

events::HeardPlayer heard(const PlayerAnswer& answer, PlayerWord word, const std::string& text) {
  return {.player = answer.player, .word = word, .text = core::shown(text, kLongestWord)};
}

/// A third-party referee that names no failed call: the player answered well if it answered all
/// that a match needs.
bool has_answered_all(const std::vector<const PlayerCall*>& calls, const PlayerRecord& record,
                      const WordFacts& facts) {
  const auto answered = [&](std::string_view type) {
    return std::ranges::any_of(calls, [&](const PlayerCall* call) {
      return call->message_type == type && is_answered_well(*call, record, facts);
    });
  };
  return answered(kInvitation) && answered(kChoiceCall);
}

/// What the player says to `loss`, or that it says nothing.
events::HeardPlayer said_to(const PlayerAnswer& answer, const ReportedLoss& loss,
                            const WordFacts& facts) {
  if (!answer.record) return heard(answer, PlayerWord::kNone, answer.why_none);
  const PlayerRecord& record = *answer.record;
  if (loss.phase == LossPhase::kConnect) {
    return heard(answer, PlayerWord::kConfirms,
                 "the manager reaches the player; no call of the referee need have reached it");
  }
  const auto calls = calls_of(record, loss, facts);
  if (calls.empty()) {
    return heard(answer, PlayerWord::kNoCall,
                 "it got no " + name_of_call(loss) + " with a valid credential of attempt " +
                     std::to_string(facts.attempt));
  }
  for (const PlayerCall* call : calls) {
    if (loss.call.empty() || !is_answered_well(*call, record, facts)) continue;
    return heard(answer, PlayerWord::kAnswered,
                 "it answered the " + name_of_call(loss) + " after " +
                     std::to_string(*call->answer_ms) + " ms");
  }
  if (loss.call.empty() && has_answered_all(calls, record, facts))
    return heard(answer, PlayerWord::kAnswered, "it answered both calls in time");
  for (const PlayerCall* call : calls) {
    if (!call->is_callers_fault) continue;
    return heard(answer, PlayerWord::kCallAtFault,
                 "it refused the " + name_of_call(loss) + " for the call's own fault" +
                     (call->refused ? " (" + *call->refused + ")" : std::string()));
  }
  return heard(answer, PlayerWord::kConfirms,
               "its record has no valid answer to the " + name_of_call(loss) + " in time");
}

/// Whether the player certainly still has time for the call that is said to have timed out, however
/// long that was on its way.
bool is_still_open(const ReportedLoss& loss, const WordFacts& facts) {
  if (!loss.is_timeout || !facts.since_call) return false;
  const auto limit = limit_of(loss.call, facts);
  constexpr std::chrono::milliseconds kLeastGrace{1000};
  return *facts.since_call + std::max(kLeastGrace, limit / 20) < limit;
}

}  // namespace

bool contradicts(PlayerWord word) {
  return word == PlayerWord::kNoCall || word == PlayerWord::kAnswered ||
         word == PlayerWord::kCallAtFault || word == PlayerWord::kStillOpen;
}

ReportedLoss loss_of(const MatchReport& report, const std::string& player_id) {
  ReportedLoss loss;
  for (const auto& failure : report.failures) {
    if (failure.player_id != player_id) continue;
    loss = {.phase = phase_of(failure),
            .call = failure.call,
            .is_decline = has_code(failure, core::ErrorCode::kInvitationDeclined),
            .is_timeout = has_code(failure, core::ErrorCode::kTimeout)};
  }
  return loss;
}

events::HeardPlayer word_of(const PlayerAnswer& answer, const ReportedLoss& loss,
                            const WordFacts& facts) {
  auto word = said_to(answer, loss, facts);
  if (contradicts(word.word) || !is_still_open(loss, facts)) return word;
  return heard(answer, PlayerWord::kStillOpen,
               "the " + name_of_call(loss) + " came to its seat only " +
                   std::to_string(facts.since_call->count()) +
                   " ms before the report, and it has " +
                   std::to_string(limit_of(loss.call, facts).count()) + " ms to answer");
}

events::HeardPlayer word_on_play(const PlayerAnswer& answer,
                                 const std::optional<ReportedPlay>& reported,
                                 const WordFacts& facts) {
  if (!answer.record) return heard(answer, PlayerWord::kNone, answer.why_none);
  if (!reported) return heard(answer, PlayerWord::kConfirms, "it was asked for its receipts");
  bool is_answered = false;
  for (const auto& call : answer.record->calls) {
    if (call.attempt != facts.attempt || call.play != facts.play || !call.choice ||
        call.message_type != kChoiceCall)
      continue;
    is_answered = true;
    if (*call.choice == reported->choice &&
        call.opponent_commitment == reported->opponent_commitment &&
        (!reported->nonce || call.nonce == reported->nonce))
      return heard(answer, PlayerWord::kConfirms,
                   "it gave the reported answer, but has no valid receipt of it");
  }
  if (is_answered)
    return heard(answer, PlayerWord::kAnswered, "its answer was not the reported one");
  return heard(answer, PlayerWord::kNoCall,
               "it was not asked for a choice in attempt " + std::to_string(facts.attempt) +
                   ", play " + std::to_string(facts.play));
}

}  // namespace league::league_manager
