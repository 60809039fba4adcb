#pragma once

#include <functional>
#include <string>

#include "common/agent/host/option_table.h"
#include "common/core/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools {

/// Runs the command on the command line; returns the exit code.
using ChosenCommand = std::function<int()>;

/// The exit code after a failed call of a manager: 2 if it did not answer, 1 if it refused.
[[nodiscard]] int exit_code_of(const core::Error& error);

/// The argument of commands that call a manager.
void add_manager_url(CLI::App& command, std::string& url);

// Each of these adds a command to `league`; if that command is given, `chosen` is set to a function
// that runs it.

/// `league admin`: the operator's commands; those to a running league need the operator's key.
void add_admin_command(CLI::App& app, ChosenCommand& chosen);
/// `codes` of `league admin`: the file of registration codes.
void add_codes_commands(CLI::App& admin, ChosenCommand& chosen);
/// `league bus-config`, which writes a broker's configuration with one user per agent.
void add_bus_config_command(CLI::App& app, ChosenCommand& chosen);
/// `league call URL TOOL [ARGS]`: calls a tool of any MCP server.
void add_call_command(CLI::App& app, ChosenCommand& chosen);
/// `league config`, which reads a configuration file as the programs do.
void add_config_command(CLI::App& app, ChosenCommand& chosen);
/// `league enter URL`: registers a player that cannot do it itself.
void add_enter_command(CLI::App& app, ChosenCommand& chosen);
/// `league connect MANAGER`: keeps a bot that exists at a seat.
void add_connect_command(CLI::App& app, ChosenCommand& chosen);
/// `league events`, which prints the public events of a league on a bus.
void add_events_command(CLI::App& app, ChosenCommand& chosen);
/// `league new-bot LANGUAGE DIR`: writes a bot of ten lines.
void add_new_bot_command(CLI::App& app, ChosenCommand& chosen);
/// `lead` of `league admin`: the operator's decision that a manager leads which waits for others.
void add_lead_command(CLI::App& admin, ChosenCommand& chosen);
/// `league status URL`: shows the progress of a league.
void add_status_command(CLI::App& app, ChosenCommand& chosen);
/// `league start URL`: starts a league with the registered agents.
void add_start_command(CLI::App& app, ChosenCommand& chosen);
/// The commands of `league admin` for one agent: `remove`, `restore`.
void add_agent_acts(CLI::App& admin, ChosenCommand& chosen);
/// The commands of `league admin` for the league: `pause`, `resume`, `extend`, `announce`, `void`,
/// `end`.
void add_league_acts(CLI::App& admin, ChosenCommand& chosen);
/// `league up`, which plays a whole league on this machine, with the limits of `config`.
void add_up_command(CLI::App& app, ChosenCommand& chosen, const agent::runtime::ConfigFile& config);
/// `league watch URL`: shows a league in a terminal, until it is over or the user quits.
void add_watch_command(CLI::App& app, ChosenCommand& chosen);

}  // namespace league::tools
