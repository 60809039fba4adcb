#include "referee/core/match_types.h"

#include "common/core/enum_names.h"

namespace league::referee {

std::string_view call_name(Call call) {
  return call == Call::kInvitation ? "GAME_INVITATION" : "CHOOSE_PARITY_CALL";
}

std::string_view expected_reply(Call call) {
  return call == Call::kInvitation ? "GAME_JOIN_ACK" : "CHOOSE_PARITY_RESPONSE";
}

std::string_view state_name(MatchState state) {
  constexpr core::EnumNames<MatchState, 4> kNames{
      {"WAITING_FOR_PLAYERS", "COLLECTING_CHOICES", "DRAWING_NUMBER", "FINISHED"}};
  return kNames.of(state);
}

}  // namespace league::referee
