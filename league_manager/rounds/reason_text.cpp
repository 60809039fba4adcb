#include "league_manager/rounds/reason_text.h"

#include "league_manager/events/compact_result.h"
#include "league_manager/events/events.h"

namespace league::league_manager::rounds {

std::string forfeit_reason(std::string_view reason) {
  if (reason == events::kReasonPlayerShutDown) return "one of its players is shut down";
  if (reason == events::kReasonNoReferee) return "no referee could finish it";
  if (reason == events::kReasonRoundTimeLimit)
    return "its round took longer than round_watchdog_ms allows";
  return std::string(reason);
}

std::string release_reason(std::string_view reason) {
  if (reason == events::kReasonMatchTimeLimit) return "took longer than match_watchdog_ms allows";
  if (reason == events::kReasonRefereeRefused) return "refused its assignment";
  if (reason == events::kReasonMatchRefused) return "may not call one of its players";
  if (reason == events::kReasonRefereeRestarted) return "has restarted and lost its matches";
  if (reason == events::kReasonRefereeLost) return "does not answer";
  if (reason == events::kReasonSilent) return "is silent on the bus";
  if (reason == events::kReasonFailedMatches) return "failed at several matches in a row";
  if (reason == events::kReasonShutDownByOperator) return "is shut down";
  if (reason == events::kReasonLossContradicted)
    return "reported a loss that its player contradicts";
  if (reason == events::kReasonReceiptContradicts)
    return "reported what a player's receipt contradicts";
  if (reason == events::kReasonManagerRestarted)
    return "may have lost its matches while the manager was away";
  return std::string(reason);
}

}  // namespace league::league_manager::rounds
