#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/runtime/settings.h"
#include "common/core/auth_token.h"
#include "common/envelope/message_schemas.h"
#include "common/envelope/mode.h"
#include "game/games.h"
#include "league_manager/core/league.h"
#include "league_manager/events/events.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_caller.h"
#include "tests/support/fixed_delay.h"
#include "tests/support/link_network.h"
#include "tests/support/memory/faulty_connection.h"
#include "tests/support/memory/memory_transport.h"
#include "tests/support/recording.h"
#include "tests/support/scripted_handler.h"
#include "tests/support/scripted_random.h"

namespace league::testing {

struct LeagueFixtureOptions {
  int players = 4;
  int referees = 1;
  int players_expected = 0;  ///< the league is full with so many; 0: with `players`
  /// See LeagueRunner::start.
  std::chrono::milliseconds registration_window{0};
  int capacity = 32;  ///< max_concurrent_matches of every referee
  std::vector<std::string> strategies = {"random"};  ///< by player, again from the first
  game::SharedDefinition game = game::even_odd();
  int meetings = 1;  ///< of each pair
  agent::runtime::Settings settings{};
  envelope::Mode mode = envelope::Mode::kOpen;
  bool receipts = false;  ///< the players declare receipts
  std::uint64_t seed = 1;
  FaultPlan faults{};
  /// Calls go over connections that are kept (LinkCaller, FaultyConnector, ServedConnection)
  /// instead of one by one; from the end of the registrations on with these faults.
  std::optional<transport::memory::FaultPlan> links = std::nullopt;
  /// Where the agents also write conversation logs as the programs do; empty: they write none. See
  /// close_files().
  std::filesystem::path directory = {};
};

/// The built-in schemas, compiled once for all tests of a program.
[[nodiscard]] const envelope::MessageSchemas& schemas();

/// The time of `base`, later by a nanosecond at each look: no two records of a log are of one
/// instant, as on a real machine. Thread-safe; `base` outlives it.
class TickingClock final : public core::Clock {
 public:
  explicit TickingClock(const core::Clock& base) : base_(base) {}
  [[nodiscard]] Steady steady_now() const override {
    return base_.steady_now() + std::chrono::nanoseconds(++looks_);
  }
  [[nodiscard]] core::UtcTimestamp utc_now() const override { return base_.utc_now(); }

 private:
  const core::Clock& base_;
  mutable std::atomic<std::int64_t> looks_ = 0;
};

/// A whole league in one process: the services of the real programs on a network in memory, with
/// virtual time, seeded randomness and every conversation log in one recording. For one thread.
class LeagueFixture {
 public:
  static constexpr auto kManagerUrl = "http://127.0.0.1:8000/mcp";
  static constexpr auto kOperatorKey = "op_the-operators-own-key";

  explicit LeagueFixture(LeagueFixtureOptions options = {});
  ~LeagueFixture();
  LeagueFixture(const LeagueFixture&) = delete;
  LeagueFixture& operator=(const LeagueFixture&) = delete;

  /// Registers every agent, referees first, so that `P01` is player 0. The league starts soon after
  /// the last one, but nothing of it runs yet.
  void register_all();
  /// Registers where needed and runs until the league is over and everybody was told; false if that
  /// takes more than `limit` of virtual time.
  bool play(std::chrono::nanoseconds limit = std::chrono::hours(12));
  /// Runs until `condition` holds; false if it does not within `limit` of virtual time.
  bool run_until(const std::function<bool()>& condition,
                 std::chrono::nanoseconds limit = std::chrono::hours(12));
  /// Runs what can run without time passing.
  void settle() {
    while (run_one()) continue;
  }
  /// Lets time pass.
  void pass(std::chrono::nanoseconds time_span);

  /// The agent's deviations: `P01`, `REF01` or `league_manager`.
  [[nodiscard]] ScriptedHandler& script(const std::string& id);
  /// From now on nobody listens at the agent's address.
  void disconnect(const std::string& id);
  void connect(const std::string& id);
  [[nodiscard]] static std::string url_of(const std::string& id);
  /// What the agent was given at registration.
  [[nodiscard]] core::AuthToken token_of(const std::string& id) const;
  [[nodiscard]] int running_matches(int referee) const;

  /// Closes and seals the logs, and writes the journal beside them: then `options.directory` is
  /// that of a league that is over. Nothing may be sent afterwards.
  void close_files();

  /// Sends `bytes` to the agent's address and returns the answer to it.
  struct Answer {
    int http_status = 0;
    std::string bytes;
    nlohmann::json frame;  ///< of `bytes`; discarded where they are no JSON
  };
  Answer post(const std::string& id, const std::string& bytes);
  /// The same with a JSON-RPC request.
  nlohmann::json call(const std::string& id, const std::string& method, nlohmann::json params);
  /// A league message of `type` with a right envelope from `sender`, with `fields` added.
  [[nodiscard]] nlohmann::json message(const std::string& type, const std::string& sender,
                                       const std::string& token, nlohmann::json fields) const;

  /// The manager's process ends at once and another one goes on with its journal.
  void restart_manager();

  /// What the operator was told, `EVENT: text`; a warning has `! ` before it.
  std::vector<std::string> operator_lines;

  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] nlohmann::json status() const;
  /// What the manager has journalled.
  [[nodiscard]] league_manager::events::Events events() const;
  /// Reads the league.
  void read(const std::function<void(const league_manager::League&)>& look) const;

  LeagueFixtureOptions options;
  FakeTime time;
  TickingClock ticking{time};  ///< of the records, where logs are written
  FixedDelay delays;  ///< of every referee
  FixedDelay manager_delays;
  transport::memory::MemoryNetwork network{time, time};
  LinkNetwork links{time};  ///< in use where options.links is set
  Recording recording;
  ScriptedRandom random;

 private:
  class Links;
  struct Store;
  struct Wire;
  struct Manager;
  struct Referee;
  struct Player;
  bool run_one() { return network.run_one() || links.run_one(); }
  template <typename Agent>
  void register_one(Agent& agent, envelope::Role role);

  bool is_over_ = false;
  bool is_registered_ = false;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Manager> manager_;
  std::vector<std::unique_ptr<Manager>> dead_managers_;  // timers and calls may refer to them
  std::vector<std::unique_ptr<Referee>> referees_;
  std::vector<std::unique_ptr<Player>> players_;
  std::map<std::string, Wire*> wires_;  // by id
};

}  // namespace league::testing
