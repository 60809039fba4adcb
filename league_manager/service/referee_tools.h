#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/agent/host/agent_server.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/league_runner.h"

namespace league::league_manager::service {

/// Serves third-party referees that poll for their matches instead of being called: the tool
/// `get_assigned_matches` and the query GET_REGISTRATIONS. Each referee sees its own open matches
/// and their players, and only with its own token. Thread-safe. Source: protocol §9, "Starting
/// referees".
class RefereeTools {
 public:
  /// All references outlive this, which adds its tool to `server`.
  RefereeTools(agent::host::AgentServer& server, files::Ledger& ledger,
               rounds::LeagueRunner& league_runner, core::LeagueId league_id);

  /// The players of the open matches of the registered agent `asker`, with their addresses; nothing
  /// if `asker` is not a referee.
  [[nodiscard]] std::optional<nlohmann::json> registrations_for(const std::string& asker);
  /// For a query that has no envelope: see AgentServerOptions::query_defaults.
  [[nodiscard]] envelope::NormaliseDefaults query_defaults(const std::string& token) const;

 private:
  void on_get_assigned_matches(agent::host::ToolCall call);
  /// Open matches of `referee` with their attempts, if their players know who will call them.
  [[nodiscard]] std::vector<std::pair<events::MatchKey, int>> announced_matches(int referee) const;
  [[nodiscard]] std::optional<int> referee_of(const std::string& token) const;
  /// Notes that `referee` polls, which only third-party referees do.
  void note_polling(int referee);

  files::Ledger& ledger_;
  rounds::LeagueRunner& league_runner_;
  const core::LeagueId league_id_;
  std::mutex mutex_;
  using Attempts = std::set<std::pair<events::MatchKey, int>>;
  Attempts shown_;  // already shown as PENDING
  // By referee, the matches whose players it was told; no entry for a referee that never asked for
  // players.
  std::map<int, Attempts> told_;
};

}  // namespace league::league_manager::service
