// `league check`, `league spar` and `league play`: bots without a league.
#include <CLI/CLI.hpp>
#include <csignal>

#include "common/agent/host/option_table.h"
#include "common/agent/runtime/operations_log.h"
#include "common/transport/link/socket.h"
#include "tools/check/program/commands.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  league::transport::link::raise_file_limit();
  // What the referee's code would tell its operator is told in the report.
  league::agent::runtime::set_up_log("league check", "off",
                                     league::agent::runtime::LogFormat::kText);
  CLI::App app("Checks bots, referees and managers, and plays matches without a league.", "league");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(LEAGUE_VERSION));
  std::function<int()> chosen;
  league::tools::check::add_check_command(app, chosen);
  league::tools::check::add_spar_commands(app, chosen);
  if (auto code = league::agent::host::parse_arguments(app, argc, argv)) return *code;
  return chosen ? chosen() : 2;
}
