#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/core/result.h"
#include "game/games.h"

namespace league::tools {

/// The options of `league up`: what a local league consists of.
struct UpOptions {
  int players = 4;
  int external = 0;  ///< how many of `players` somebody else starts
  int seats = 0;  ///< places for people, beside `players`
  int referees = 1;
  std::string game = "even_odd";  ///< a name, or the absolute path of a file
  int meetings = 1;  ///< of each pair
  /// Empty: all that the game has; in Even/Odd those that need no second meeting.
  std::string strategies;
  std::optional<std::uint64_t> seed;  ///< of the strategies; the draw is never affected
  std::filesystem::path data;  ///< empty: inside a fresh run directory
  std::filesystem::path logs;
  nlohmann::json limits = nlohmann::json::object();  ///< as agent::runtime::ConfigFile::limits()
  std::filesystem::path programs_config;  ///< the configuration file of the programs
  std::string mode = "open";
  int port = 0;  ///< of the manager; 0: any that is free
  int max_matches = 0;  ///< at once per referee; 0: the referee's default
  std::string league_id;  ///< empty: the manager's default
  std::string bind_address;  ///< of the manager; empty: its default
  std::string advertise;
  std::vector<std::string> allow_hosts;
  bool require_commitments = false;  ///< see the manager's --require-commitments
  std::vector<std::string> allow_origins;
  /// Assigned to the players in rotation. The manager and the referees use the first one that
  /// others can call; if there are several, HTTP.
  std::vector<agent::host::Serving> transports{agent::host::Serving::kHttp};
  std::string transport_names;  ///< the list from which `transports` was read
  std::filesystem::path sockets;  ///< directory of Unix sockets; set if it is needed
  std::string bus;  ///< URL of a broker; `local`: one of the league's own; empty: none
  bool json = false;
  bool keep = false;
  bool browser = false;  ///< open the live page

  [[nodiscard]] int all_players() const { return players + seats; }
  /// How many of them somebody else brings.
  [[nodiscard]] int guests() const { return external + seats; }
};

/// One program to start.
struct ProgramSpec {
  enum class Role { kManager, kReferee, kPlayers };
  Role role = Role::kPlayers;
  std::string program;  ///< `player`, in the directory of this executable
  std::string name;  ///< of its stderr file and in messages
  std::vector<std::string> arguments;
  int agents = 1;  ///< `ready` lines to expect
};

/// The game that `options` name. Fails for an unknown name, and for a file that is no game.
[[nodiscard]] core::Result<game::SharedDefinition> game_of(const UpOptions& options);

/// The strategies of the built-in players.
[[nodiscard]] std::string default_strategies(const game::Definition& game);

/// The names in a list such as `random,slow:500`, of strategies for `game`. Fails for an unknown
/// name or an empty list, with a text that names the known ones.
[[nodiscard]] core::Result<std::vector<std::string>> parse_strategies(std::string_view list,
                                                                      const game::Definition& game);

/// A built-in player that the manager and the referees start themselves and call on its standard
/// streams. It has to be registered by `league up`.
struct SubprocessPlayer {
  std::string name;
  std::string endpoint;  ///< `stdio:/…/player --transport stdio …`
};

/// The players of a league.
struct LeaguePlan {
  std::vector<ProgramSpec> specs;  ///< programs that register themselves
  std::vector<SubprocessPlayer> subprocess_players;
};

/// The text of `programs_config`: the limits, and the options that all players on standard streams
/// share, since their commands are addresses, which have a limited length.
[[nodiscard]] std::string programs_config_text(const UpOptions& options);

/// The transports in a list such as `http,websocket`. Fails with a text that names the known ones.
[[nodiscard]] core::Result<std::vector<agent::host::Serving>> parse_transports(
    std::string_view list);
/// The transport that manager and referees serve.
[[nodiscard]] agent::host::Serving host_transport(const UpOptions& options);
/// True if an agent listens at a Unix socket.
[[nodiscard]] bool needs_sockets(const UpOptions& options);

/// The arguments of the league manager. `programs` is the directory of the executables.
[[nodiscard]] ProgramSpec manager_spec(const UpOptions& options,
                                       const std::filesystem::path& programs);
/// The referees, which register at `manager_url`.
[[nodiscard]] std::vector<ProgramSpec> referee_specs(const UpOptions& options,
                                                     const std::string& manager_url,
                                                     const std::filesystem::path& programs);
/// The built-in players: strategies and transports are assigned in rotation; player n of a strategy
/// is called `STRATEGY-n`. Up to 16 players are a process each; with more, all of one strategy and
/// transport share one. A `crash` player always has its own process, since it ends it.
[[nodiscard]] LeaguePlan plan_players(const UpOptions& options,
                                      const std::vector<std::string>& strategies,
                                      const std::string& manager_url,
                                      const std::filesystem::path& programs);

}  // namespace league::tools
