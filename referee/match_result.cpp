#include "referee/match_result.h"

namespace league::referee {

using core::ErrorCode;

namespace {

constexpr int kPointsForWin = 3;
constexpr int kPointsForDraw = 1;

}  // namespace

std::string_view status_name(ResultStatus status) {
  switch (status) {
    case ResultStatus::kWin:
      return "WIN";
    case ResultStatus::kDraw:
      return "DRAW";
    case ResultStatus::kTechnicalLoss:
      return "TECHNICAL_LOSS";
  }
  return "";
}

std::string_view termination_name(Termination termination) {
  switch (termination) {
    case Termination::kNormal:
      return "NORMAL";
    case Termination::kTimeoutJoin:
      return "TIMEOUT_JOIN";
    case Termination::kTimeoutChoice:
      return "TIMEOUT_CHOICE";
    case Termination::kConnectionJoin:
      return "CONNECTION_JOIN";
    case Termination::kConnectionChoice:
      return "CONNECTION_CHOICE";
    case Termination::kInvalidReply:
      return "INVALID_REPLY";
    case Termination::kInvalidChoice:
      return "INVALID_CHOICE";
    case Termination::kWrongMatch:
      return "WRONG_MATCH";
    case Termination::kDeclined:
      return "DECLINED";
    case Termination::kAuthFailed:
      return "AUTH_FAILED";
    case Termination::kPlayerUnavailable:
      return "PLAYER_UNAVAILABLE";
    case Termination::kBothFailed:
      return "BOTH_FAILED";
  }
  return "";
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
    case ErrorCode::kAuthTokenMissing:
    case ErrorCode::kAuthTokenInvalid:
    case ErrorCode::kSenderMismatch:
      return Termination::kAuthFailed;
    default:
      return Termination::kInvalidReply;
  }
}

MatchResult played_result(const rules::RulesModule& rules, const MatchPlan& plan,
                          const rules::Choices& choices) {
  const int number = rules.draw_number(plan.draw_seed, plan.match_id.str(), choices);
  const rules::Outcome outcome = rules.determine_winner(choices, number);
  MatchResult result;
  result.drawn_number = number;
  result.number_parity = outcome.number_kind;
  result.choices = {{choices.player_a, choices.player_b}};
  result.reason = outcome.reason;
  if (outcome.winner == rules::Winner::kNobody) {
    result.status = ResultStatus::kDraw;
    result.score = {{kPointsForDraw, kPointsForDraw}};
  } else {
    result.status = ResultStatus::kWin;
    result.winner = outcome.winner == rules::Winner::kPlayerA ? Slot::kA : Slot::kB;
    result.score[*result.winner] = kPointsForWin;
  }
  return result;
}

MatchResult technical_result(const MatchPlan& plan,
                             const PerPlayer<std::optional<Termination>>& lost_by,
                             const PerPlayer<std::optional<std::string>>& choices) {
  MatchResult result;
  result.status = ResultStatus::kTechnicalLoss;
  result.choices = choices;
  result.lost_by = lost_by;
  for (Slot slot : kBothSlots) {
    if (!lost_by[slot]) continue;
    result.termination = *lost_by[slot];
    result.reason += (result.reason.empty() ? "Technical loss of " : "; of ") +
                     plan.seats[slot].player.str() + ": " +
                     std::string(termination_name(*lost_by[slot]));
  }
  if (lost_by[Slot::kA] && lost_by[Slot::kB]) {
    result.termination = Termination::kBothFailed;
  } else {
    result.winner = lost_by[Slot::kA] ? Slot::kB : Slot::kA;
    result.score[*result.winner] = kPointsForWin;
  }
  return result;
}

}  // namespace league::referee
