#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/check/mock_server.h"
#include "tools/check/player/player_bench.h"

namespace league::tools::check {

/// An agent that the checker plays towards a league manager under test.
struct BroughtAgent {
  std::string name;
  bool is_referee = false;
  std::string id;
  core::AuthToken token;
  BotReply registration;
  std::unique_ptr<MockServer> server;
};

/// Plays a whole league with a manager, acting as all players and referees, and tries to cheat.
/// Stores each answer under a name for the checks. Not thread-safe.
class ManagerBench {
 public:
  struct Options {
    transport::link::Endpoint manager;
    std::size_t players = 2;
    std::size_t referees = 1;
    core::AuthToken operator_key;  ///< empty: the league starts when all agents are registered
    std::string start_command = {};  ///< for the shell, then; empty: none is needed
    milliseconds patience{8000};  ///< for the start
    bool is_fast = false;
  };
  /// `wire` and `runtime` outlive it.
  ManagerBench(Wire& wire, transport::front::HttpRuntime& runtime, Options options);

  /// Plays the league once; later calls do nothing. Fails if no ports are available.
  [[nodiscard]] core::Result<void> play();

  /// The answer that was stored under this name; an empty one if there is none.
  [[nodiscard]] const BotReply& kept(const std::string& name) const;
  /// Calls of `type` to the first player, and to the first referee.
  [[nodiscard]] std::vector<InboundCall> to_player(const std::string& type) const;
  [[nodiscard]] std::vector<InboundCall> to_referee(const std::string& type) const;
  [[nodiscard]] const std::vector<BroughtAgent>& players() const { return players_; }
  [[nodiscard]] const std::vector<BroughtAgent>& referees() const { return referees_; }
  /// Rows of ROUND_ANNOUNCEMENT that were given to referees, in order.
  [[nodiscard]] const std::vector<nlohmann::json>& assignments() const { return assignments_; }
  /// The most matches that were open at once; each referee has two places.
  [[nodiscard]] std::size_t most_at_once() const { return most_at_once_; }
  [[nodiscard]] bool has_started() const { return !assignments_.empty(); }
  [[nodiscard]] std::vector<std::string> secrets() const;

 private:
  [[nodiscard]] nlohmann::json envelope(const std::string& type, const std::string& sender,
                                        const std::string& token) const;
  [[nodiscard]] nlohmann::json registration(const BroughtAgent& agent) const;
  BotReply keep(const std::string& name, const std::string& method, const nlohmann::json& message);
  core::Result<void> open_servers();
  void register_agent(BroughtAgent& agent);
  void probe_registrations();
  void probe_copies();
  void wait_for_start();
  void probe_frames();
  void probe_queries();
  void play_matches();
  void collect_assignments();
  void report(const nlohmann::json& row);
  [[nodiscard]] bool has_news(milliseconds limit) const;
  void probe_reports(const nlohmann::json& row, const nlohmann::json& message);
  [[nodiscard]] nlohmann::json report_message(const nlohmann::json& row,
                                              const BroughtAgent& referee) const;

  transport::front::HttpRuntime& runtime_;
  const Options options_;
  PlayerBench rpc_;
  bool has_played_ = false;
  std::string league_id_ = "league_check";
  std::vector<BroughtAgent> players_;
  std::vector<BroughtAgent> referees_;
  std::map<std::string, BotReply> kept_;
  std::vector<nlohmann::json> assignments_;
  std::size_t reported_ = 0;
  std::size_t most_at_once_ = 0;
  std::vector<std::size_t> seen_;  ///< calls to the mock server of each referee
};

}  // namespace league::tools::check
