#include "tools/league/commands.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/agent/host/program_options.h"
#include "common/agent/runtime/config_file.h"
#include "common/agent/runtime/settings.h"
#include "common/core/counted.h"
#include "common/rpc/json_text.h"
#include "common/transport/link/signals.h"
#include "game/files/game_file.h"
#include "league_manager/files/journal_book.h"
#include "tools/league/up/league_plan.h"
#include "tools/league/up/live_view.h"
#include "tools/league/up/local_broker.h"
#include "tools/league/up/result_report.h"
#include "tools/league/up/run_directory.h"
#include "tools/league/up/run_store.h"
#include "tools/league/up/table_text.h"
#include "tools/league/up/technical_losses.h"
#include "tools/league/up/tournament.h"

namespace league::tools {
namespace {

constexpr const char* kLocalBus = "local";

std::size_t output_width() {
  constexpr std::size_t kWide = 120;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kWide;
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ",") + name;
  return all;
}

/// Adds what follows from the journal: technical losses with their causes, and the figures beside
/// the points; only a warning if it cannot be read.
void complete_from_journal(TournamentOutcome& outcome, const std::filesystem::path& data) {
  auto book = league_manager::files::read_book(data);
  if (!book) {
    std::cerr << "warning: the causes of technical losses and the ratings cannot be read: "
              << safe_text(book.error().message) << '\n';
    return;
  }
  outcome.technical_losses = technical_losses_of(*book);
  if (outcome.progress.is_completed())
    take_figures(outcome, league_manager::table::figures_of(book->league()));
}

core::Error usage_error(const std::string& text) {
  return {core::ErrorCode::kInternalError, text, {}};
}

/// Normalises the options, so that they can be compared with those of a continued league.
core::Result<void> normalise(UpOptions& options) {
  if (game::files::is_game_file(options.game))
    options.game = std::filesystem::absolute(options.game).lexically_normal().string();
  auto game = game_of(options);
  if (!game) return game.error();
  if (options.strategies.empty()) options.strategies = default_strategies(**game);
  auto strategies = parse_strategies(options.strategies, **game);
  if (!strategies) return strategies.error();
  options.strategies = joined_names(*strategies);
  auto transports = parse_transports(options.transport_names);
  if (!transports) return transports.error();
  std::vector<std::string> names;
  for (auto transport : *transports) names.emplace_back(agent::host::serving_name(transport));
  options.transport_names = joined_names(names);
  if (options.all_players() < 2 || options.all_players() > 32000)
    return usage_error("--players and --seats must be 2 to 32000 together");
  if (options.external <= options.players) return {};
  return usage_error("--external " + std::to_string(options.external) +
                     " is more than the --players of the league, " +
                     std::to_string(options.players));
}

/// Prints that the league is already finished, with its champion. Returns the exit code.
int say_finished(const RunStore& run_store, bool as_json) {
  auto result = nlohmann::json::parse(run_store.result());
  if (as_json) {
    print_json(result);
    return 0;
  }
  std::string data = run_store.options().data.string();
  std::cout << "league " << safe_text(run_store.options().league_id)
            << " is finished; matches: " << result.value("matches", 0)
            << ", rounds: " << result.value("rounds", 0);
  if (auto champion = result.find("champion"); champion != result.end() && champion->is_object())
    std::cout << (champion->value("decided", true) ? "; champion: " : "; first, not decided: ")
              << safe_text(champion->value("display_name", "")) << " ("
              << safe_text(champion->value("player_id", "")) << ") with "
              << core::counted(champion->value("points", 0), "point");
  std::cout << "\n`league export " << data << "` writes its table; to start a new league, use "
            << "another --data" << std::endl;
  return 0;
}

void print_outcome(const TournamentOutcome& outcome, const RunDirectories& directories,
                   const nlohmann::ordered_json& result, bool as_json) {
  if (as_json) {
    print_json(result);
  } else {
    print_result(outcome, directories, output_width(), std::cout);
    std::cout.flush();
  }
}

void say_how_to_continue(const std::filesystem::path& data) {
  std::cerr << "to continue the league: " << continuing_command(data) << '\n';
}

/// Handles an error or a signal before the league began or continued. Returns the exit code.
int interrupted(const core::Error& why, const std::filesystem::path& data) {
  if (why.code != core::ErrorCode::kShuttingDown) return fail(why);
  std::cerr << why.message << '\n';
  say_how_to_continue(data);
  return 1;
}

/// Plays the league of `run_store`; broker and socket directory must be ready. Returns the exit
/// code.
int play(RunStore& run_store, UpOptions options, transport::link::StopSignal& stop) {
  const auto directories = run_store.directories();
  const bool as_json = options.json;
  const bool keep = options.keep;
  core::SystemClock clock;
  LiveView view;
  const auto game = game_of(options);
  if (!game) return fail(game.error());
  auto strategies = parse_strategies(options.strategies, **game);
  if (!strategies) return fail(strategies.error());
  Tournament tournament(std::move(options), std::move(*strategies), run_store, clock, stop, view);
  auto outcome = tournament.play();
  view.clear();
  bool stays = outcome && !outcome->was_interrupted && keep;
  if (!stays) tournament.stop_programs();
  if (!outcome) {
    int code = fail(outcome.error());
    say_how_to_continue(directories.data);
    return code;
  }
  complete_from_journal(*outcome, directories.data);
  const auto result = result_json(*outcome, directories);
  print_outcome(*outcome, directories, result, as_json);
  if (outcome->was_interrupted) {
    say_how_to_continue(directories.data);
    return 1;
  }
  auto noted = run_store.note_result(rpc::ordered_json_text(result));
  if (!noted) std::cerr << "warning: " << noted.error().message << '\n';
  if (stays) {
    std::cerr << "the programs keep running; the manager is at " << tournament.manager_url()
              << ". Ctrl-C ends them.\n";
    stop.wait();
    tournament.stop_programs();
  }
  return 0;
}

int up(GivenOptions given, const agent::runtime::ConfigFile& config,
       transport::link::StopSignal& stop) {
  if (auto limits = agent::runtime::settings_of(config); !limits) return fail(limits.error());
  given.options.limits = config.limits();
  if (auto normal = normalise(given.options); !normal) return fail(normal.error());
  core::SystemClock clock;
  const auto data = given.options.data;
  auto run_store = RunStore::open(std::move(given), clock, stop);
  if (!run_store) return interrupted(run_store.error(), data);
  UpOptions options = run_store->options();
  if (!run_store->result().empty()) return say_finished(*run_store, options.json);
  auto transports = parse_transports(options.transport_names);
  if (!transports) return fail(transports.error());
  options.transports = std::move(*transports);
  // Paths must be absolute: they are part of the endpoint of a stdio player, which others start in
  // other directories.
  options.logs = std::filesystem::absolute(options.logs);
  SocketDirectory sockets;
  if (needs_sockets(options)) {
    auto made = SocketDirectory::make_again(options.sockets);
    if (!made) return fail(made.error());
    sockets = std::move(*made);
    options.sockets = sockets.path();
    if (auto noted = run_store->note_sockets(sockets.path()); !noted) return fail(noted.error());
  }
  std::optional<LocalBroker> broker;
  if (options.bus == kLocalBus) {
    auto started = LocalBroker::start(options.data, options.logs, stop, run_store->broker_port());
    if (!started) return interrupted(started.error(), options.data);
    broker.emplace(std::move(*started));
    options.bus = broker->url();
    auto endpoint = options.bus.substr(options.bus.rfind(':') + 1);
    if (auto noted = run_store->note_broker(std::stoi(endpoint)); !noted)
      return fail(noted.error());
  }
  return play(*run_store, std::move(options), stop);
}

void add_people(CLI::App& command, UpOptions& options) {
  command.add_option("--players", options.players, "number of players that are bots")
      ->check(CLI::Range(0, 32000))
      ->capture_default_str();
  command
      .add_option("--external", options.external,
                  "how many of these players you start yourself; they register at the address that "
                  "is printed")
      ->check(CLI::Range(0, 32000))
      ->capture_default_str();
  command
      .add_option(
          "--seats", options.seats,
          "seats for people, beside the bots: they play at the address that is printed, and "
          "the league starts when all are taken")
      ->check(CLI::Range(0, 32000))
      ->capture_default_str();
  command.add_option("--referees", options.referees, "number of referees")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--game", options.game,
                  "the game that is played: even_odd, matching_pennies, prisoners_dilemma, "
                  "rock_paper_scissors, or a file (docs/games.md)")
      ->capture_default_str();
  command
      .add_option("--meetings", options.meetings,
                  "how often each pair of players meets, each time in a match of its own")
      ->check(CLI::Range(1, league_manager::events::kMostMeetings))
      ->capture_default_str();
  command.add_option(
      "--strategies", options.strategies,
      "strategies of the built-in players, separated by commas, assigned in rotation "
      "(docs/games.md lists all; default: "
      "random,even,odd,alternate,frequency,opposite, in another game than even_odd "
      "all that it has)");
  command.add_option("--seed", options.seed,
                     "makes the strategies' choices repeatable; draws stay random");
}

void add_setting(CLI::App& command, UpOptions& options) {
  command.add_option("--data", options.data,
                     "directory of the league's data (default: runs/TIME/data); if it contains an "
                     "interrupted league, that league continues with its original options");
  command.add_option("--logs", options.logs, "directory of the logs (default: runs/TIME/logs)");
  agent::host::add_config(command);
  command
      .add_option(
          "--mode", options.mode,
          "open accepts small deviations from the protocol and records them, strict refuses them")
      ->check(CLI::IsMember({"open", "strict"}))
      ->capture_default_str();
  command
      .add_option("--transport", options.transport_names,
                  "how the programs call each other: " + agent::host::serving_names() +
                      "; several, separated by commas, are assigned to the players in rotation")
      ->default_str("http");
  command.add_flag("--require-commitments", options.require_commitments,
                   "accept only players that commit to their choices and send receipts");
  command.add_flag("--bus{local}", options.bus,
                   "play over a message bus: --bus starts a broker (nats-server) for this league, "
                   "--bus=nats://HOST:4222 uses a running one");
  command
      .add_option("--max-matches", options.max_matches,
                  "matches that a referee plays at the same time")
      ->check(CLI::Range(1, 10000));
  command.add_option("--league", options.league_id, "id of the league");
  command.add_option("--port", options.port, "port of the manager; 0: any free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command.add_option("--bind", options.bind_address,
                     "numeric address that the manager listens on (default: 127.0.0.1)");
  command.add_option("--advertise", options.advertise,
                     "URL under which players on other machines reach the manager");
  command
      .add_option("--allow-host", options.allow_hosts,
                  "additional host name under which agents may call the manager; may be repeated")
      ->expected(1, -1);
  agent::host::add_allow_origin(command, options.allow_origins);
}

std::set<std::string> given_names(const CLI::App& command) {
  std::set<std::string> names;
  for (const auto* option : command.get_options()) {
    if (option->count() > 0) names.insert("--" + option->get_lnames().at(0));
  }
  return names;
}

}  // namespace

void add_up_command(CLI::App& app, ChosenCommand& chosen,
                    const agent::runtime::ConfigFile& config) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* command = app.add_subcommand("up", "play a whole league on this machine");
  add_people(*command, *options);
  add_setting(*command, *options);
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->add_flag("--keep", options->keep,
                    "keep the programs running after the end, until Ctrl-C");
  command->add_flag("--browser", options->browser,
                    "open the league's live page in a browser; its address is always printed");
  command->footer(
      "Examples:\n"
      "  league up\n"
      "  league up --players 8 --referees 2 --strategies opposite,frequency,random --seed 7\n"
      "  league up --players 5 --external 1 --port 8000    (your bot registers at port 8000)\n"
      "  league up --players 3 --seats 2 --port 8000       (two people play in their browsers)\n"
      "  league up --players 6 --strategies random,slow:3000,crash --json\n"
      "  league up --data runs/2025-01-15T10-30-00Z/data   (continues that league)\n"
      "Exit codes: 0 the league was played to its end, 1 it was interrupted, 2 it could not be "
      "played.");
  agent::host::when_given(*command, chosen, [options, command, &config] {
    transport::link::StopSignal stop;
    return up({*options, given_names(*command)}, config, stop);
  });
}

}  // namespace league::tools
