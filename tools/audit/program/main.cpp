// `league audit`, `league export` and `league backup`: commands that read logs and journals.
#include <CLI/CLI.hpp>
#include <csignal>

#include "common/agent/host/option_table.h"
#include "common/transport/link/socket.h"
#include "tools/audit/program/commands.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  league::transport::link::raise_file_limit();
  CLI::App app("Reads the logs and the journal of a league: audits, exports, backups.", "league");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(LEAGUE_VERSION));
  std::function<int()> chosen;
  league::tools::auditor::add_audit_command(app, chosen);
  league::tools::auditor::add_export_command(app, chosen);
  league::tools::auditor::add_backup_command(app, chosen);
  if (auto code = league::agent::host::parse_arguments(app, argc, argv)) return *code;
  return chosen ? chosen() : 2;
}
