#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/agent/agent_server.h"
#include "common/core/auth_token.h"
#include "league_manager/conductor.h"
#include "league_manager/ledger.h"

namespace league::league_manager {

/// The states of the agents, for everybody, and the acts that change them: the operator shuts an
/// agent down or restores it, a player withdraws. Thread-safe. Source: protocol §6, "Agent states".
class AgentDesk {
 public:
  /// The most rows of one answer.
  static constexpr int kPage = 200;

  /// All references outlive the desk, which adds its tools to `server`. An empty `operator_key`
  /// opens nothing.
  AgentDesk(agent::AgentServer& server, Ledger& ledger, Conductor& conductor,
            const core::AuthToken& operator_key);

 private:
  using Decision = std::function<core::Result<Events>(const League&, core::UtcTimestamp)>;

  void on_get_agents(agent::ToolCall call) const;
  void on_operator(agent::ToolCall call, bool shuts_down);
  void on_withdraw(agent::ToolCall call);
  /// Makes `decide` fact and acknowledges it, or refuses with its error.
  void act(agent::Reply reply, Decision decide);

  Ledger& ledger_;
  Conductor& conductor_;
  const core::AuthToken& operator_key_;
};

}  // namespace league::league_manager
