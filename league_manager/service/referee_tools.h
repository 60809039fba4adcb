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

namespace league::league_manager {

/// Serves third-party referees that poll for their matches instead of being called: the tool
/// `get_assigned_matches` and the query GET_REGISTRATIONS. Each referee sees its own open matches
/// and their players, and only with its own token. Thread-safe. Source: protocol §9, "Starting
/// referees".
class RefereeTools {
 public:
  /// All references outlive this, which adds its tool to `server`.
  RefereeTools(agent::AgentServer& server, Ledger& ledger, LeagueRunner& league_runner,
               core::LeagueId league_id);

  /// The players of the open matches of the registered agent `asker`, with their addresses; nothing
  /// if it is no referee.
  [[nodiscard]] std::optional<nlohmann::json> registrations_for(const std::string& asker);
  /// For a query that has no envelope: see AgentServerOptions::query_defaults.
  [[nodiscard]] envelope::NormaliseDefaults query_defaults(const std::string& token) const;

 private:
  void on_get_assigned_matches(agent::ToolCall call);
  /// Open matches of `referee` with their attempts, if their players know who will call them.
  [[nodiscard]] std::vector<std::pair<MatchKey, int>> announced_matches(int referee) const;
  [[nodiscard]] std::optional<int> referee_of(const std::string& token) const;
  /// Notes that it polls, which only third-party referees do.
  void note_polling(int referee);

  Ledger& ledger_;
  LeagueRunner& league_runner_;
  const core::LeagueId league_id_;
  std::mutex mutex_;
  using Attempts = std::set<std::pair<MatchKey, int>>;
  Attempts shown_;  // that were called PENDING
  // By referee, those of which it was told the players; who never asked for players is not here.
  std::map<int, Attempts> told_;
};

}  // namespace league::league_manager
