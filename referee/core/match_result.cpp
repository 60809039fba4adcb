#include "referee/core/match_result.h"

#include <utility>

#include "common/core/enum_names.h"

namespace league::referee {

using core::ErrorCode;

std::string_view status_name(const game::MatchResult& result) {
  if (result.is_technical()) return "TECHNICAL_LOSS";
  return game::winner_of(result.outcome) ? "WIN" : "DRAW";
}

std::string_view phase_name(CallPhase phase) {
  constexpr core::EnumNames<CallPhase, 3> kNames{{"connect", "sent", "answered"}};
  return kNames.of(phase);
}

std::string_view termination_name(Termination termination) {
  constexpr core::EnumNames<Termination, 13> kNames{
      {"NORMAL", "TIMEOUT_JOIN", "TIMEOUT_CHOICE", "CONNECTION_JOIN", "CONNECTION_CHOICE",
       "INVALID_REPLY", "INVALID_CHOICE", "WRONG_MATCH", "DECLINED", "AUTH_FAILED",
       "PLAYER_UNAVAILABLE", "COMMITMENT_MISMATCH", "BOTH_FAILED"}};
  return kNames.of(termination);
}

Termination termination_for(Call call, ErrorCode code) {
  const bool joining = call == Call::kInvitation;
  switch (code) {
    case ErrorCode::kTimeout:
      return joining ? Termination::kTimeoutJoin : Termination::kTimeoutChoice;
    case ErrorCode::kConnectionError:
      return joining ? Termination::kConnectionJoin : Termination::kConnectionChoice;
    case ErrorCode::kInvalidParityChoice:
      return Termination::kInvalidChoice;
    case ErrorCode::kMatchIdMismatch:
      return Termination::kWrongMatch;
    case ErrorCode::kInvitationDeclined:
      return Termination::kDeclined;
    case ErrorCode::kPlayerUnavailable:
      return Termination::kPlayerUnavailable;
    case ErrorCode::kCommitmentMismatch:
      return Termination::kCommitmentMismatch;
    case ErrorCode::kAuthTokenMissing:
    case ErrorCode::kAuthTokenInvalid:
    case ErrorCode::kSenderMismatch:
      return Termination::kAuthFailed;
    default:
      return Termination::kInvalidReply;
  }
}

Termination RefereedMatch::termination() const {
  if (lost_by[Side::kA] && lost_by[Side::kB]) return Termination::kBothFailed;
  return lost_by[Side::kA].value_or(lost_by[Side::kB].value_or(Termination::kNormal));
}

RefereedMatch played(const game::Definition& rules, const MatchPlan& plan,
                     const game::Choices& choices, game::Bindings bindings) {
  auto explained = game::play(rules, {.seed = plan.draw_seed,
                                      .match_id = plan.match_id.str(),
                                      .choices = choices,
                                      .bindings = bindings});
  RefereedMatch match;
  match.result = std::move(explained.result);
  match.reason = std::move(explained.reason);
  match.bindings = std::move(bindings);
  return match;
}

RefereedMatch technically_lost(const MatchPlan& plan,
                               const PerSide<std::optional<Termination>>& lost_by,
                               PerSide<std::optional<std::string>> choices,
                               game::Bindings bindings) {
  RefereedMatch match;
  match.lost_by = lost_by;
  match.bindings = std::move(bindings);
  std::optional<Side> winner;
  for (Side side : kBothSides) {
    if (!lost_by[side]) {
      winner = side;
      continue;
    }
    match.reason += (match.reason.empty() ? "Technical loss of " : "; of ") +
                    plan.seats[side].player.str() + ": " +
                    std::string(termination_name(*lost_by[side]));
  }
  match.result =
      game::technical_result(winner, termination_name(match.termination()), std::move(choices));
  return match;
}

}  // namespace league::referee
