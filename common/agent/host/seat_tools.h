#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/agent/host/agent_server.h"
#include "common/agent/seats/seats.h"
#include "common/core/auth_token.h"
#include "common/core/clock.h"

namespace league::agent::host {

/// The tools of players that come to us: `open_seat` begins a session, `await_calls` hands in
/// answers and waits for calls. Thread-safe. Source: protocol §10.
class SeatTools {
 public:
  /// What the tools ask their program.
  struct Rules {
    /// The token of a player that registered with `outward` and is not shut down; nothing for
    /// anybody else.
    std::function<std::optional<core::AuthToken>(const std::string& player)> token_of;
    /// A player has taken its seat; may be empty.
    std::function<void(const std::string& player, seats::Line line)> on_seated = {};
    /// Somebody could not open the seat that it calls `player`; may be empty.
    std::function<void(const std::string& player, const core::Error& why)> on_refused = {};
  };

  /// All references outlive it.
  SeatTools(seats::Seats& seats, const core::Clock& clock, Rules rules);

  /// Adds the tools to `server`, which outlives this.
  void bind(AgentServer& server);
  void open_seat(ToolCall call);
  void await_calls(ToolCall call);

 private:
  [[nodiscard]] core::Result<std::string> prove(const nlohmann::json& arguments);
  /// Fails for a nonce that was used before.
  [[nodiscard]] core::Result<void> use_up(const std::string& player, const std::string& nonce);

  seats::Seats& seats_;
  const core::Clock& clock_;
  const Rules rules_;

  struct Used {
    std::string nonce;
    core::Clock::Steady until;
  };
  std::mutex mutex_;  // guards the rest
  std::unordered_map<std::string, std::deque<Used>> used_;  ///< by player, the oldest first
};

}  // namespace league::agent::host
