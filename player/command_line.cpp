#include <CLI/CLI.hpp>

#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"
#include "player/program.h"

namespace league::player {
namespace {

std::string known_names() {
  std::string text = "strategies:";
  for (auto name : known_strategies()) text.append(" ").append(name);
  text.append("; misbehaviours, to test a league:");
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

void add_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("--manager", options.manager,
                 "URL of the league manager (default: http://localhost:8000/mcp; on a bus "
                 "nats:manager, or nats:manager/LEAGUE if it has several leagues)");
  app.add_option("--name", options.name, "display name; with --count a number is added")
      ->capture_default_str();
  app.add_option("--strategy", options.strategy,
                 "how the player chooses; several strategies, separated by commas, are assigned to "
                 "the players in rotation. " +
                     known_names())
      ->capture_default_str();
  app.add_option(
      "--game", options.game,
      "file of a game of your own, whose words are then strategies, too (docs/games.md); "
      "all other strategies also play a game that the manager describes");
  app.add_option(
         "--count", options.count,
         "number of players in this process, on consecutive ports (with --port 0 on free ports)")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--seed", options.seed,
                 "makes the strategies' choices repeatable; draws stay random");
  app.add_flag("--standalone", options.standalone,
               "do not register, and answer every caller (for tests)");
  app.add_flag("!--no-commitments", options.commits,
               "join matches without committing to a choice; a referee that colludes with the "
               "opponent can then steer the draw");
  app.add_option("--data", options.data,
                 "directory for the identity (agents/player_NAME.json, with the token), the "
                 "choices in open matches, and the history (players/ID/history.json); with it the "
                 "player keeps its identity and its choices after a restart");
  app.add_option("--token", options.token_file,
                 "file (mode 0600) with a new token from the league's operator (`league admin "
                 "new-token`), which replaces the stored one");
  app.add_option("--registration-code", options.registration_code_file,
                 "file (mode 0600) with the registration code, if the league requires one; with "
                 "--count one line per player, with its code and its name");
}

}  // namespace

std::variant<ProgramOptions, int> read_command_line(int argc, char** argv) {
  ProgramOptions options;
  options.common.port = 8101;
  options.common.may_be_child = true;
  CLI::App app("Plays in a league.", "player");
  agent::host::add_program_options(app, options.common);
  add_options(app, options);
  app.footer(kFooter);
  if (auto code = agent::host::parse_command_line(app, argc, argv, options.common)) return *code;
  if (options.count > 1 && !options.token_file.empty()) {
    return agent::host::fail({core::ErrorCode::kInvalidFieldValue,
                              "--token is for one player: start a process for it, or omit --count",
                              {}});
  }
  if (options.common.serving() == agent::host::Serving::kStdio) {
    // A stdio player has no address at which it could be called, so whoever starts it also
    // registers it.
    if (options.count > 1) {
      return agent::host::fail({core::ErrorCode::kInvalidFieldValue,
                                "--transport stdio serves one player; omit --count",
                                {}});
    }
    options.is_registered_by_caller = !options.data.empty() && !options.standalone;
    options.standalone = !options.is_registered_by_caller;
  }
  return options;
}

}  // namespace league::player
