#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/timestamp.h"
#include "league_manager/events/match_key.h"

namespace league::league_manager {
class LeagueDump;
}  // namespace league::league_manager

namespace league::league_manager::events {

/// INIT -> REGISTERED -> ACTIVE <-> SUSPENDED -> SHUTDOWN. Source: protocol §6.
enum class AgentState : std::uint8_t { kInit, kRegistered, kActive, kSuspended, kShutdown };

/// `ACTIVE`.
[[nodiscard]] std::string_view agent_state_name(AgentState state);
[[nodiscard]] std::optional<AgentState> parse_agent_state(std::string_view text);

/// The kind of an agent's failure: E001, E009, or an invalid message.
enum class FailureKind : std::uint8_t { kTimeout, kConnection, kValidation };

/// `TIMEOUT`, `CONNECTION`, `VALIDATION`.
[[nodiscard]] std::string_view failure_kind_name(FailureKind kind);
[[nodiscard]] std::optional<FailureKind> parse_failure_kind(std::string_view text);

/// Why an agent's state changed: to SUSPENDED, ...
inline constexpr std::string_view kReasonFailedMatches = "FAILED_MATCHES";  ///< also to SHUTDOWN
inline constexpr std::string_view kReasonSilent = "SILENT";
inline constexpr std::string_view kReasonRefereeLost = "REFEREE_LOST";
inline constexpr std::string_view kReasonDraining = "DRAINING";  ///< of a referee that is about to
                                                                 ///< end
/// ... back to ACTIVE, ...
inline constexpr std::string_view kReasonPlayed = "PLAYED";
inline constexpr std::string_view kReasonHeardAgain = "HEARD_AGAIN";
inline constexpr std::string_view kReasonPingAnswered = "PING_ANSWERED";
inline constexpr std::string_view kReasonRestored = "RESTORED_BY_OPERATOR";
/// ... and to SHUTDOWN.
inline constexpr std::string_view kReasonShutDownByOperator = "SHUT_DOWN_BY_OPERATOR";
inline constexpr std::string_view kReasonWithdrawn = "WITHDRAWN";
inline constexpr std::string_view kReasonDisqualified = "DISQUALIFIED";

/// When an agent is suspended and when it is shut down. Source: protocol §6.
struct LifecycleSettings {
  int suspend_after_failed_matches = 3;  ///< in a row
  int shutdown_after_failed_matches = 0;  ///< in a row; 0: nobody is shut down automatically
};

/// A change of state that is due, and why.
struct StateChange {
  AgentState to = AgentState::kActive;
  std::string_view reason;  ///< machine-readable, such as `FAILED_MATCHES`

  bool operator==(const StateChange&) const = default;
};

/// The state of one agent and the number of consecutive matches that failed through its own fault:
/// for a player, matches that it lost technically; for a referee, matches that it did not finish.
/// It counts failures and returns the change that is due, but changes its state only by `enter`, so
/// that a replay does not depend on current settings. Not thread-safe.
class AgentLifecycle {
 public:
  [[nodiscard]] AgentState state() const { return state_; }
  [[nodiscard]] core::UtcTimestamp state_since() const { return since_; }
  /// The reason for the state; empty if it follows from the normal course of the league.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// The same for people; may be empty.
  [[nodiscard]] const std::string& detail() const { return detail_; }
  [[nodiscard]] int failed_matches() const { return failed_; }
  [[nodiscard]] int failed_in_a_row() const { return in_a_row_; }

  /// A failed match; several failures in one match count once (old journals contain one per
  /// attempt).
  void count_failure(std::optional<MatchKey> match);
  /// Resets the count: a match did not fail through the agent's fault.
  void count_success() { in_a_row_ = 0; }
  void enter(AgentState state, core::UtcTimestamp at, std::string reason = {},
             std::string detail = {});

  /// The change that is due, if any. An agent that is not yet ACTIVE is never suspended.
  [[nodiscard]] std::optional<StateChange> due(const LifecycleSettings& settings) const;

  bool operator==(const AgentLifecycle&) const = default;

 private:
  friend class league_manager::LeagueDump;  // of the tests

  AgentState state_ = AgentState::kInit;
  core::UtcTimestamp since_;
  std::string reason_;
  std::string detail_;
  int failed_ = 0;
  int in_a_row_ = 0;
  std::optional<MatchKey> last_failed_;
};

}  // namespace league::league_manager::events
