// What the operator does to agents, and what agents do to themselves: protocol §6, "Agent states".
#include "common/core/text.h"
#include "league_manager/core/league.h"

namespace league::league_manager {

namespace {

constexpr std::size_t kLongestDetail = 300;

core::Error not_now(AgentRef agent, const std::string& why) {
  return {core::ErrorCode::kInvalidFieldValue, agent.id() + " " + why, "/agent_id"};
}

std::optional<std::string> bounded(std::string_view detail) {
  if (detail.empty()) return std::nullopt;
  return core::shown(detail, kLongestDetail);
}

}  // namespace

core::Result<Events> League::decide_shut_down(AgentRef agent, std::string_view reason,
                                              std::string_view detail,
                                              core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRunning)
    return not_now(agent, "can be shut down only while the league is running");
  if (roster_.agent(agent).lifecycle.state() == AgentState::kShutdown)
    return not_now(agent, "is shut down already");
  Draft draft(running(), now);
  draft.add(AgentStateChanged{agent, AgentState::kShutdown, std::string(reason), bounded(detail)});
  if (agent.kind == AgentKind::kReferee) release_all(draft, agent.index, reason);
  deal_matches(draft);
  return std::move(draft).take();
}

core::Result<Events> League::decide_restore(AgentRef agent, std::string_view detail,
                                            core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRunning)
    return not_now(agent, "can be restored only while the league is running");
  const AgentState state = roster_.agent(agent).lifecycle.state();
  if (state != AgentState::kShutdown && state != AgentState::kSuspended)
    return not_now(agent, "is neither shut down nor suspended");
  Draft draft(running(), now);
  draft.add(
      AgentStateChanged{agent, AgentState::kActive, std::string(kReasonRestored), bounded(detail)});
  deal_matches(draft);
  return std::move(draft).take();
}

}  // namespace league::league_manager
