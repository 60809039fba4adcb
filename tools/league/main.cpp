// The tool for people: plays a league, asks a manager, reads the logs.
#include <CLI/CLI.hpp>

#include "common/transport/signals.h"
#include "common/transport/socket.h"
#include "tools/league/up_command.h"

int main(int argc, char** argv) {
  league::transport::StopSignal stop;
  league::transport::raise_file_limit();
  int exit_code = 0;
  CLI::App app("Plays, watches and explains Even/Odd leagues.", "league");
  app.require_subcommand(1);
  league::tools::add_up_command(app, stop, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& stopped) {
    return app.exit(stopped) == 0 ? 0 : 2;
  }
  return exit_code;
}
