#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/host/agent_server.h"
#include "common/agent/seats/seats.h"
#include "common/core/auth_token.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/league_runner.h"
#include "league_manager/service/agent_records.h"

namespace league::league_manager::service {

/// The answer when the journal has failed. Agents retry after it; the cause is for the operator and
/// appears only in the program's own messages.
[[nodiscard]] core::Error not_stored();
/// The whole number `name` of a tool's arguments, at least 0; `fallback` if it is missing.
[[nodiscard]] std::size_t number_argument(const nlohmann::json& arguments, const char* name,
                                          int fallback);
/// Answers with data read from the league, or refuses, once that data is durable, so that no answer
/// contains facts that a crash can undo.
void answer_when_durable(files::Ledger& ledger, agent::peers::Reply reply,
                         core::Result<nlohmann::json> answer);

/// The events of a command, or why it is refused.
using Decision = std::function<core::Result<events::Events>(const League&, core::UtcTimestamp)>;
/// Commits `decide` and answers `{"status": "ok"}` with what `decide` has put into `more` (may be
/// null), or refuses with its error. `league_runner` carries out the events after the answer.
void answer_command(files::Ledger& ledger, rounds::LeagueRunner& league_runner,
                    agent::peers::Reply reply, Decision decide,
                    std::shared_ptr<nlohmann::json> more = nullptr);

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
  AgentTools(agent::host::AgentServer& server, files::Ledger& ledger,
             rounds::LeagueRunner& league_runner, const core::AuthToken& operator_key,
             const AgentRecords* records, const agent::seats::Seats* seats);

 private:
  void on_get_agents(agent::host::ToolCall call) const;
  void on_operator(agent::host::ToolCall call, bool shuts_down);
  void on_withdraw(agent::host::ToolCall call);
  void on_drain_referee(agent::host::ToolCall call);
  void on_get_my_report(agent::host::ToolCall call) const;

  files::Ledger& ledger_;
  rounds::LeagueRunner& league_runner_;
  const core::AuthToken& operator_key_;
  const AgentRecords* const records_;
  const agent::seats::Seats* const seats_;  ///< null: players cannot come to this manager
};

}  // namespace league::league_manager::service
