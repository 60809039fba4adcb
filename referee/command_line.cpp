#include <CLI/CLI.hpp>

#include "referee/program.h"

namespace league::referee {

std::variant<ProgramOptions, int> read_command_line(int argc, char** argv) {
  ProgramOptions options;
  options.common.port = 8001;
  CLI::App app("Runs the matches of a league.", "referee");
  agent::host::add_program_options(app, options.common);
  app.add_option("--manager", options.manager,
                 "URL of the league manager (default: http://localhost:8000/mcp; on a bus "
                 "nats:manager, or nats:manager/LEAGUE if it has several leagues)");
  app.add_option("--name", options.name, "display name")->capture_default_str();
  app.add_option("--game", options.game,
                 "file of a game of your own: if the league plays a game of that name with other "
                 "rules, the referee ends before the first match (E028). Without it the referee "
                 "plays what the manager describes");
  app.add_option("--max-matches", options.max_matches,
                 "number of matches that it runs at the same time")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option(
         "--drain", options.drain_seconds,
         "at SIGTERM or SIGINT, ask the manager for no further match and wait at most this "
         "many seconds for the matches that are being played; a second signal ends the "
         "referee immediately. 0: do not wait; open matches start over with another referee")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  app.add_option("--endpoints", options.endpoints,
                 "endpoints of players that may be called. The manager has already checked network "
                 "addresses (any), but Unix sockets and commands on this machine must be allowed "
                 "here: any,unix:/run/bots/,stdio:python3 bots/")
      ->capture_default_str();
  app.add_option(
      "--data", options.data,
      "directory for the identity (agents/referee_NAME.json, with the token) and the match files "
      "(matches/LEAGUE/MATCH.json); with it the referee keeps its identity after a restart");
  app.add_option("--admission-key", options.admission_key_file,
                 "file (mode 0600) with the key that admits referees, a copy of the manager's "
                 "DATA/referee.key; required on machines other than the manager's, and on a bus");
  app.add_option(
      "--players-file", options.players_file,
      "JSON file with addresses of players by id, such as {\"P01\": "
      "\"http://localhost:8101/mcp\"}, for third-party league managers that do not send them");
  app.add_option("--token", options.token_file,
                 "file (mode 0600) with a new token from the league's operator (`league admin "
                 "new-token`), which replaces the stored one");
  app.footer(
      "Examples:\n  referee --port 8001 --manager http://localhost:8000/mcp --name whistle "
      "--max-matches 16\n"
      "  referee --manager http://arena.example.org:8000/mcp --admission-key referee.key "
      "--bind 0.0.0.0 --advertise http://here.example.org:8001/mcp");
  if (auto code = agent::host::parse_command_line(app, argc, argv, options.common)) return *code;
  return options;
}

}  // namespace league::referee
