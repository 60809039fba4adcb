// A player disputes a result: protocol §4, message 15, DISPUTE_MATCH.
#include <algorithm>

#include "league_manager/core/league.h"

namespace league::league_manager {

namespace {

constexpr std::size_t kLongestDisputeReason = 500;

}  // namespace

core::Result<Events> League::decide_dispute(int player, MatchKey match, std::string_view reason,
                                            core::UtcTimestamp now) const {
  using core::ErrorCode;
  const std::string id = match.id().str();
  if (!schedule_.contains(match)) {
    return core::Error{ErrorCode::kMatchNotFound,
                       "match " + id + " is not in the schedule of this league",
                       "/query_params/match_id"};
  }
  const Pairing pairing = schedule_.pairing(match);
  if (player != pairing.player_a && player != pairing.player_b) {
    return core::Error{ErrorCode::kNotAuthorized,
                       "only a player of " + id + " can dispute its result",
                       "/query_params/match_id"};
  }
  if (!finished_result(match)) {
    return core::Error{ErrorCode::kMatchNotOpen,
                       "match " + id + " has no result yet that could be disputed",
                       "/query_params/match_id"};
  }
  if (is_disputed_by(match, player)) return Events{};
  return Events{
      {now, MatchDisputed{match, player, std::string(reason.substr(0, kLongestDisputeReason))}}};
}

bool League::is_disputed_by(MatchKey match, int player) const {
  const auto found = disputes_.find(match);
  return found != disputes_.end() &&
         std::ranges::find(found->second, player) != found->second.end();
}

}  // namespace league::league_manager
