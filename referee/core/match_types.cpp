#include "referee/core/match_types.h"

namespace league::referee {

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

}  // namespace league::referee
