#include "league_manager/agent_lifecycle.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace league::league_manager {

namespace {

constexpr std::size_t kKept = 64;
constexpr std::array<std::string_view, 5> kStateNames = {"INIT", "REGISTERED", "ACTIVE",
                                                         "SUSPENDED", "SHUTDOWN"};
constexpr std::array<std::string_view, 3> kKindNames = {"TIMEOUT", "CONNECTION", "VALIDATION"};

template <typename Enum, std::size_t N>
std::optional<Enum> parse_name(const std::array<std::string_view, N>& names,
                               std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view agent_state_name(AgentState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}
std::optional<AgentState> parse_agent_state(std::string_view text) {
  return parse_name<AgentState>(kStateNames, text);
}
std::string_view failure_kind_name(FailureKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
std::optional<FailureKind> parse_failure_kind(std::string_view text) {
  return parse_name<FailureKind>(kKindNames, text);
}

void AgentLifecycle::count_failure(FailureKind kind, core::UtcTimestamp at) {
  ++failures_;
  switch (kind) {
    case FailureKind::kTimeout:
      ++timeouts_in_a_row_;
      break;
    case FailureKind::kConnection:
      if (connection_errors_.size() == kKept) connection_errors_.erase(connection_errors_.begin());
      connection_errors_.push_back(at);
      break;
    case FailureKind::kValidation:
      ++validation_errors_;
      break;
  }
}

void AgentLifecycle::enter(AgentState state, core::UtcTimestamp at) {
  state_ = state;
  since_ = at;
  if (state != AgentState::kActive) return;
  timeouts_in_a_row_ = 0;
  validation_errors_ = 0;
  connection_errors_.clear();
}

std::optional<StateChange> AgentLifecycle::due(const LifecycleSettings& settings,
                                               core::UtcTimestamp now) const {
  if (state_ != AgentState::kActive && state_ != AgentState::kSuspended) return std::nullopt;
  if (failures_ >= settings.failures_in_all)
    return StateChange{AgentState::kShutdown, "FAILURES_IN_ALL"};
  if (state_ == AgentState::kSuspended) {
    if (now < since_.after(settings.suspension_limit)) return std::nullopt;
    return StateChange{AgentState::kShutdown, "SUSPENSION_LIMIT"};
  }
  if (auto reason = suspension_reason(settings, now))
    return StateChange{AgentState::kSuspended, std::string(*reason)};
  return std::nullopt;
}

std::optional<std::string_view> AgentLifecycle::suspension_reason(const LifecycleSettings& settings,
                                                                  core::UtcTimestamp now) const {
  if (timeouts_in_a_row_ >= settings.timeouts_in_a_row) return "TIMEOUTS_IN_A_ROW";
  if (validation_errors_ >= settings.validation_errors) return "VALIDATION_ERRORS";
  auto recent = std::ranges::count_if(connection_errors_, [&](core::UtcTimestamp at) {
    return now <= at.after(settings.connection_window);
  });
  if (recent >= settings.connection_errors) return "CONNECTION_ERRORS";
  return std::nullopt;
}

std::string AgentLifecycle::str() const {
  std::ostringstream out;
  out << agent_state_name(state_) << " since " << since_.to_log() << " failures " << failures_
      << " timeouts " << timeouts_in_a_row_ << " validation " << validation_errors_
      << " connection";
  for (auto at : connection_errors_) out << " " << at.to_log();
  return out.str();
}

}  // namespace league::league_manager
