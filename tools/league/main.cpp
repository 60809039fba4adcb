// `league`, the command-line tool: plays a league, sends commands to a manager, reads logs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "common/agent/host/option_table.h"
#include "common/agent/runtime/config_file.h"
#include "common/transport/link/socket.h"
#include "tools/league/commands.h"
#include "tools/league/up/process_group.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

/// A command that is a separate program next to this one. It is not needed to play a league, so
/// that a first league does not have to wait until it is built. Its options are in its own --help.
struct Sibling {
  std::string_view command;
  std::string_view program;
  std::string_view description;
  bool has_more_commands = false;  ///< so the program must be told which one
};

constexpr std::array<Sibling, 8> kSiblings{{
    {"audit", "league-audit",
     "show what happened according to the conversation logs, and verify them", true},
    {"export", "league-audit",
     "recreate a league's files from its journal and logs, or write tables, grades or a site",
     true},
    {"backup", "league-audit", "make a backup of a league, which may be running", true},
    {"check", "league-check", "check a bot against the protocol, clause by clause", true},
    {"spar", "league-check", "play many matches between two bots", true},
    {"play", "league-check", "play yourself, or one match between two bots", true},
    {"bench", "league-bench", "measure how fast whole leagues are on this machine"},
    {"gateway", "league-gateway",
     "make an MCP server available over another transport or revision"},
}};

/// Adds these commands to the list of --help.
void add_sibling_commands(CLI::App& app) {
  for (const Sibling& sibling : kSiblings)
    app.add_subcommand(std::string(sibling.command), std::string(sibling.description));
}

/// Replaces this process with the program that the first argument names, and passes it the other
/// arguments. Returns only on failure, with an exit code, or with nothing if there is no such
/// program.
std::optional<int> run_sibling(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  for (const Sibling& sibling : kSiblings) {
    if (sibling.command != argv[1]) continue;
    const auto program = own_directory() / sibling.program;
    ::execv(program.c_str(), sibling.has_more_commands ? argv : argv + 1);
    const std::error_code reason(errno, std::generic_category());
    std::cerr << "error: `league " << sibling.command << "` is the program " << program.string()
              << ", which cannot be started: " << reason.message()
              << (reason == std::errc::no_such_file_or_directory ? "; scripts/setup builds it" : "")
              << '\n';
    return 2;
  }
  return std::nullopt;
}

void add_version_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("version", "print the version of this program");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "print one JSON object for machines");
  agent::host::when_given(*command, chosen, [as_json] {
    nlohmann::json object = {{"version", LEAGUE_VERSION}, {"protocol", "league.v2"}};
    std::cout << (*as_json ? object.dump() : LEAGUE_VERSION) << '\n';
    return 0;
  });
}

}  // namespace

void add_manager_url(CLI::App& command, std::string& url) {
  command.add_option("URL", url, "of the league manager, such as http://localhost:8000/mcp")
      ->required();
}

int exit_code_of(const core::Error& error) {
  const bool is_silent =
      error.code == core::ErrorCode::kConnectionError || error.code == core::ErrorCode::kTimeout;
  return is_silent ? 2 : 1;
}

/// Runs the command that `argv` names. Returns the exit code.
static int run_command_line(int argc, char** argv) {
  std::function<int()> chosen;
  agent::runtime::ConfigFile config;
  CLI::App app("Runs, watches and audits leagues.", "league");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(LEAGUE_VERSION));
  add_up_command(app, chosen, config);
  add_status_command(app, chosen);
  add_watch_command(app, chosen);
  add_start_command(app, chosen);
  add_enter_command(app, chosen);
  add_connect_command(app, chosen);
  add_new_bot_command(app, chosen);
  add_admin_command(app, chosen);
  add_call_command(app, chosen);
  add_events_command(app, chosen);
  add_bus_config_command(app, chosen);
  add_config_command(app, chosen);
  add_sibling_commands(app);
  add_version_command(app, chosen);
  // After the commands, because a command inherits the footer that is there when it is added.
  app.footer(
      "Examples:\n"
      "  league up --players 8 --referees 2\n"
      "  league status http://localhost:8000/mcp\n"
      "  league audit log runs/2025-01-15T10-30-00Z P01\n"
      "`league COMMAND --help` describes a command. Exit codes: 0 success, 1 failure, 2 wrong "
      "usage or environment.");
  if (auto code = agent::host::parse_arguments(app, argc, argv, &config)) return *code;
  return chosen ? chosen() : 2;
}

}  // namespace league::tools

int main(int argc, char** argv) {
  if (auto code = league::tools::run_sibling(argc, argv)) return *code;
  std::signal(SIGPIPE, SIG_IGN);
  league::transport::link::raise_file_limit();
  return league::tools::run_command_line(argc, argv);
}
