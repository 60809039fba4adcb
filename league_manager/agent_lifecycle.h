#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/timestamp.h"

namespace league::league_manager {

/// INIT -> REGISTERED -> ACTIVE <-> SUSPENDED -> SHUTDOWN. Source: protocol §6.
enum class AgentState : std::uint8_t { kInit, kRegistered, kActive, kSuspended, kShutdown };

/// `ACTIVE`.
[[nodiscard]] std::string_view agent_state_name(AgentState state);
[[nodiscard]] std::optional<AgentState> parse_agent_state(std::string_view text);

/// What went wrong with an agent: E001, E009, or a message that was not valid.
enum class FailureKind : std::uint8_t { kTimeout, kConnection, kValidation };

/// `TIMEOUT`, `CONNECTION`, `VALIDATION`.
[[nodiscard]] std::string_view failure_kind_name(FailureKind kind);
[[nodiscard]] std::optional<FailureKind> parse_failure_kind(std::string_view text);

/// When an agent is suspended and when it is given up. Source: protocol §6.
struct LifecycleSettings {
  int timeouts_in_a_row = 3;
  int connection_errors = 5;  ///< at most 64
  std::chrono::microseconds connection_window = std::chrono::minutes(10);
  int validation_errors = 5;
  int failures_in_all = 10;
  std::chrono::microseconds suspension_limit = std::chrono::minutes(5);
};

/// A change of state that is due, and why.
struct StateChange {
  AgentState to = AgentState::kActive;
  std::string reason;  ///< machine-readable, such as `TIMEOUTS_IN_A_ROW`

  bool operator==(const StateChange&) const = default;
};

/// The failures of one agent and its state. It counts what it is told and says what is due, but
/// changes its state only by `enter`, so that a replay does not depend on the settings of the day.
///
/// A success ends a run of time-outs. Coming back from a suspension clears the three counts that
/// lead to one, but not the failures in all: a bot that answers pings and never plays would
/// otherwise cost its league every round. Not thread-safe.
class AgentLifecycle {
 public:
  [[nodiscard]] AgentState state() const { return state_; }
  [[nodiscard]] int failures() const { return failures_; }
  [[nodiscard]] core::UtcTimestamp state_since() const { return since_; }

  void count_failure(FailureKind kind, core::UtcTimestamp at);
  void count_success() { timeouts_in_a_row_ = 0; }
  void enter(AgentState state, core::UtcTimestamp at);

  /// The change that is due at `now`, if any. An agent that is not yet ACTIVE is never suspended.
  [[nodiscard]] std::optional<StateChange> due(const LifecycleSettings& settings,
                                               core::UtcTimestamp now) const;
  /// For diagnosis: all of it in one line.
  [[nodiscard]] std::string str() const;

  bool operator==(const AgentLifecycle&) const = default;

 private:
  [[nodiscard]] std::optional<std::string_view> suspension_reason(const LifecycleSettings& settings,
                                                                  core::UtcTimestamp now) const;

  AgentState state_ = AgentState::kInit;
  core::UtcTimestamp since_;
  int timeouts_in_a_row_ = 0;
  int validation_errors_ = 0;
  int failures_ = 0;
  std::vector<core::UtcTimestamp> connection_errors_;  // the newest, at most kKept
};

}  // namespace league::league_manager
