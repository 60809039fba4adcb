#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/agent/host/agent_server.h"
#include "common/core/auth_token.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/league_runner.h"
#include "league_manager/service/agent_records.h"

namespace league::league_manager {

/// The answer when the journal has failed. Agents retry after it; the cause is for the operator and
/// appears only in the program's own messages.
[[nodiscard]] core::Error not_stored();

/// The tools for agents' states: the states of all agents, for everybody; each agent's report, for
/// that agent alone; and the commands that change states: the operator shuts an agent down or
/// restores it, a player withdraws, a referee is about to end. Thread-safe. Source: protocol §6,
/// "Agent states".
class AgentTools {
 public:
  /// The most rows of one answer.
  static constexpr int kPage = 200;

  /// Adds its tools to `server`. All references must outlive this object. An empty `operator_key`
  /// authorises nobody. Without `records` there are no reports.
  AgentTools(agent::AgentServer& server, Ledger& ledger, LeagueRunner& league_runner,
             const core::AuthToken& operator_key, const AgentRecords* records);

 private:
  using Decision = std::function<core::Result<Events>(const League&, core::UtcTimestamp)>;

  void on_get_agents(agent::ToolCall call) const;
  void on_operator(agent::ToolCall call, bool shuts_down);
  void on_withdraw(agent::ToolCall call);
  void on_drain_referee(agent::ToolCall call);
  void on_get_my_report(agent::ToolCall call) const;
  /// Commits `decide` and answers `{"status": "ok"}` with what `decide` has put into `more`, or
  /// refuses with its error.
  void act(agent::Reply reply, Decision decide, std::shared_ptr<nlohmann::json> more = nullptr);

  Ledger& ledger_;
  LeagueRunner& league_runner_;
  const core::AuthToken& operator_key_;
  const AgentRecords* const records_;
};

}  // namespace league::league_manager
