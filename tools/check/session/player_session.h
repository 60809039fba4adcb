#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/agent/bus/bus_options.h"
#include "common/core/result.h"
#include "tools/check/mock_manager.h"
#include "tools/check/report.h"
#include "tools/check/started_bot.h"

namespace league::tools::check {

/// The options of the command line.
struct SessionOptions {
  std::string role = "player";
  std::string endpoint;  ///< empty: the bot registers first
  std::string address = "127.0.0.1";  ///< where the checker listens
  std::optional<std::uint16_t> port;  ///< nothing: the checker does not listen
  std::string
      start;  ///< a command for the shell that starts the bot; `{manager}` in it is replaced
  std::string start_command = {};  ///< starts the league of a manager under test
  std::string token;  ///< of a bot at an endpoint, if it has one
  std::string id = "P01";
  std::string league_id = "league_check";
  std::string operator_key;  ///< of a manager under test; empty: it starts by itself
  agent::bus::BusOptions bus = {};  ///< for `nats:` endpoints and bots that register over a bus
  std::size_t players = 2;  ///< number of players that the checker plays towards a manager
  std::size_t referees = 1;
  bool is_fast = false;
  std::vector<std::string> only;
  std::chrono::milliseconds patience{60'000};  ///< for the bot's registration
};

/// Checks one player, referee or manager. Each fails with kConnectionError or kTimeout if the agent
/// cannot be reached or does not register.
[[nodiscard]] core::Result<Report> check_player(const SessionOptions& options);
[[nodiscard]] core::Result<Report> check_referee(const SessionOptions& options);
[[nodiscard]] core::Result<Report> check_manager(const SessionOptions& options);

/// Starts the program under test, if the options have a command for that. Otherwise there is none,
/// and the user is asked to start it, unless `manager` is null.
[[nodiscard]] core::Result<std::optional<StartedBot>> start_program(const SessionOptions& options,
                                                                    const MockManager* manager);

/// The ids, levels and texts of all checks of the role, for `--list`.
[[nodiscard]] std::vector<CheckInfo> list_checks(const std::string& role);

}  // namespace league::tools::check
