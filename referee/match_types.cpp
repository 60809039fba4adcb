#include "referee/match_types.h"

namespace league::referee {

using core::ErrorCode;

std::string_view slot_name(Slot slot) { return slot == Slot::kA ? "PLAYER_A" : "PLAYER_B"; }

std::string_view call_name(Call call) {
  return call == Call::kInvitation ? "GAME_INVITATION" : "CHOOSE_PARITY_CALL";
}

std::string_view expected_reply(Call call) {
  return call == Call::kInvitation ? "GAME_JOIN_ACK" : "CHOOSE_PARITY_RESPONSE";
}

std::string_view state_name(MatchState state) {
  switch (state) {
    case MatchState::kWaitingForPlayers:
      return "WAITING_FOR_PLAYERS";
    case MatchState::kCollectingChoices:
      return "COLLECTING_CHOICES";
    case MatchState::kDrawingNumber:
      return "DRAWING_NUMBER";
    case MatchState::kFinished:
      return "FINISHED";
  }
  return "";
}

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

}  // namespace league::referee
