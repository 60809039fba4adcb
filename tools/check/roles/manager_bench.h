#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/check/change.h"
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

/// When the manager gets a message, and which: a correct one with changes.
enum class ManagerPhase : std::uint8_t {
  kPing,  ///< `ping`
  kStart,  ///< `start_league` without a key
  kQueries,  ///< GET_STANDINGS of the first player
  kStrangers,  ///< the registration of a further player, after all others
  kCopies,  ///< the registration of the first player
  kLate,  ///< a registration after the start
  kLies,  ///< the report of the first match
  kReport,  ///< the same, after these
  kConflicts,  ///< the same again
  kLater,  ///< the reports of further matches
  kEnd,  ///< GET_SCHEDULE after the last match
};

/// A message to the manager. In a report `$a` and `$b` are the players, `$another_...` is what is
/// false, and `$player_token` and `$player_sender` are those of the first player.
struct ManagerProbe {
  const char* name;  ///< under which the answer is kept
  ManagerPhase phase;
  const char* changes;  ///< see `change`
};

/// A match that the manager has assigned, as far as a report needs it.
struct AssignedMatch {
  std::string id;
  std::string player_a;
  std::string player_b;
  std::string seed;
  nlohmann::json round;
  nlohmann::json attempt;
  nlohmann::json conversation;
  std::size_t referee = 0;  ///< the number of the referee that got it
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

  /// A further message for `play`, after those before.
  void add_probe(ManagerProbe probe) { probes_.push_back(probe); }
  /// Plays the league once; later calls do nothing. Fails if no ports are available.
  [[nodiscard]] core::Result<void> play();

  /// The answer that was stored under this name; an empty one if there is none.
  [[nodiscard]] const BotReply& kept(const std::string& name) const;
  /// Calls of `type` to the first player, and to the first referee.
  [[nodiscard]] std::vector<InboundCall> to_player(const std::string& type) const;
  [[nodiscard]] std::vector<InboundCall> to_referee(const std::string& type) const;
  [[nodiscard]] const std::vector<BroughtAgent>& players() const { return players_; }
  [[nodiscard]] const std::vector<BroughtAgent>& referees() const { return referees_; }
  /// What referees were given by ROUND_ANNOUNCEMENT, in order.
  [[nodiscard]] const std::vector<AssignedMatch>& assignments() const { return assignments_; }
  /// The most matches that were open at once; each referee has two places.
  [[nodiscard]] std::size_t most_at_once() const { return most_at_once_; }
  [[nodiscard]] bool has_started() const { return !assignments_.empty(); }
  [[nodiscard]] std::vector<std::string> secrets() const;

 private:
  [[nodiscard]] nlohmann::json envelope(const std::string& type, const std::string& sender,
                                        const std::string& token) const;
  [[nodiscard]] nlohmann::json registration(const BroughtAgent& agent) const;
  const BotReply& keep(const std::string& name, const std::string& method,
                       const nlohmann::json& message);
  /// Sends what is to be sent in this phase.
  void probe(ManagerPhase phase, const std::string& method, const nlohmann::json& correct,
             const Names& names);
  [[nodiscard]] nlohmann::json query(const char* type) const;
  void register_again(const std::string& name, const nlohmann::json& message);
  core::Result<void> open_servers();
  void register_agent(BroughtAgent& agent);
  void wait_for_start();
  void probe_frames();
  void probe_queries();
  void play_matches();
  void collect_assignments();
  void report(const AssignedMatch& match);
  [[nodiscard]] bool has_news(milliseconds limit) const;
  void probe_reports(const AssignedMatch& match, const nlohmann::json& message);
  [[nodiscard]] nlohmann::json report_message(const AssignedMatch& match) const;

  transport::front::HttpRuntime& runtime_;
  const Options options_;
  PlayerBench rpc_;
  std::vector<ManagerProbe> probes_;
  bool has_played_ = false;
  std::string league_id_ = "league_check";
  std::vector<BroughtAgent> players_;
  std::vector<BroughtAgent> referees_;
  std::map<std::string, BotReply> kept_;
  std::vector<AssignedMatch> assignments_;
  std::size_t reported_ = 0;
  std::size_t most_at_once_ = 0;
  std::vector<std::size_t> seen_;  ///< calls to the mock server of each referee
};

}  // namespace league::tools::check
