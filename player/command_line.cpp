#include <CLI/CLI.hpp>

#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"
#include "player/program.h"

namespace league::player {
namespace {

std::string known_names() {
  std::string text = "strategies:";
  for (auto name : known_strategies()) text.append(" ").append(name);
  text.append("; to try a league's patience:");
  for (auto name : known_misbehaviours()) text.append(" ").append(name);
  return text;
}

constexpr const char* kFooter =
    "Examples:\n"
    "  player --port 8101 --manager http://localhost:8000/mcp --name alpha --strategy opposite\n"
    "  player --port 8101 --count 50 --strategy random,even,odd,alternate,frequency,opposite "
    "--seed 7\n"
    "  player --port 8101 --standalone --strategy slow:3000\n"
    "  player --transport websocket --name alpha\n"
    "  player --transport stdio --strategy even    (its caller sends JSON lines to its standard "
    "input)";

}  // namespace

std::variant<ProgramOptions, int> read_command_line(int argc, char** argv) {
  ProgramOptions options;
  options.common.port = 8101;
  CLI::App app("Plays in an Even/Odd league.", "player");
  agent::add_program_options(app, options.common);
  app.add_option("--manager", options.manager,
                 "URL of the league manager (default: http://localhost:8000/mcp; on a bus "
                 "nats:manager, or nats:manager/LEAGUE where it has several leagues)");
  app.add_option("--name", options.name, "display name; with --count a number is added")
      ->capture_default_str();
  app.add_option(
         "--strategy", options.strategy,
         "how it chooses; several strategies, separated by commas, are dealt out in turn. " +
             known_names())
      ->capture_default_str();
  app.add_option(
         "--count", options.count,
         "number of players in this process, on consecutive ports (or all on free ones with "
         "--port 0)")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--seed", options.seed,
                 "makes the strategies' choices repeatable; the draw is never affected");
  app.add_flag("--standalone", options.standalone,
               "serve without registering, and answer every caller (for tests)");
  app.add_flag("!--no-commitments", options.commits,
               "join matches without binding yourself to a choice; then referee and opponent "
               "together can steer the draw");
  app.add_option(
      "--data", options.data,
      "directory in which the identity is kept (agents/player_NAME.json, with the token), "
      "so that the player comes back as who it was, and the history "
      "(players/ID/history.json); what it has chosen in the matches that it is in is kept there "
      "too, so that it comes back with the same choice");
  app.add_option("--token", options.token_file,
                 "file (mode 0600) with a token that the league's operator gave for this seat "
                 "(`league admin new-token`), in place of the one that is kept");
  app.add_option("--registration-code", options.registration_code_file,
                 "file (mode 0600) with the registration code, where the league asks for one; for "
                 "--count with one line per player, its code and its name");
  app.footer(kFooter);
  if (auto code = agent::parse_command_line(app, argc, argv, options.common)) return *code;
  if (options.count > 1 && !options.token_file.empty()) {
    return agent::fail({core::ErrorCode::kInvalidFieldValue,
                        "--token is that of one player: start a process for it, or leave out "
                        "--count",
                        {}});
  }
  if (options.common.serving() == agent::Serving::kStdio) {
    // Nobody could call it at an address; who starts it registers it.
    if (options.count > 1) {
      return agent::fail({core::ErrorCode::kInvalidFieldValue,
                          "--transport stdio serves one player; leave --count out",
                          {}});
    }
    options.standalone = true;
  }
  return options;
}

}  // namespace league::player
