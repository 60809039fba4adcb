#include "league_manager/events/agent_lifecycle.h"

#include <utility>

#include "common/core/enum_names.h"

namespace league::league_manager::events {

namespace {

constexpr core::EnumNames<AgentState, 5> kStates{
    {"INIT", "REGISTERED", "ACTIVE", "SUSPENDED", "SHUTDOWN"}};
constexpr core::EnumNames<FailureKind, 3> kFailureKinds{{"TIMEOUT", "CONNECTION", "VALIDATION"}};

}  // namespace

std::string_view agent_state_name(AgentState state) { return kStates.of(state); }
std::optional<AgentState> parse_agent_state(std::string_view text) { return kStates.parse(text); }

std::string_view failure_kind_name(FailureKind kind) { return kFailureKinds.of(kind); }
std::optional<FailureKind> parse_failure_kind(std::string_view text) {
  return kFailureKinds.parse(text);
}

void AgentLifecycle::count_failure(std::optional<MatchKey> match) {
  if (match && match == last_failed_) return;
  last_failed_ = match;
  ++failed_;
  ++in_a_row_;
}

void AgentLifecycle::enter(AgentState state, core::UtcTimestamp at, std::string reason,
                           std::string detail) {
  state_ = state;
  since_ = at;
  reason_ = std::move(reason);
  detail_ = std::move(detail);
  if (state == AgentState::kActive) in_a_row_ = 0;
}

std::optional<StateChange> AgentLifecycle::due(const LifecycleSettings& settings) const {
  if (state_ != AgentState::kActive && state_ != AgentState::kSuspended) return std::nullopt;
  const int last = settings.shutdown_after_failed_matches;
  if (last > 0 && in_a_row_ >= last)
    return StateChange{AgentState::kShutdown, kReasonFailedMatches};
  if (state_ == AgentState::kActive && in_a_row_ >= settings.suspend_after_failed_matches)
    return StateChange{AgentState::kSuspended, kReasonFailedMatches};
  return std::nullopt;
}

}  // namespace league::league_manager::events
