#include "tools/league/up_command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/transport/signals.h"
#include "tools/league/cast.h"
#include "tools/league/journal_book.h"
#include "tools/league/live_view.h"
#include "tools/league/local_broker.h"
#include "tools/league/result_report.h"
#include "tools/league/run_directory.h"
#include "tools/league/table_text.h"
#include "tools/league/technical_losses.h"
#include "tools/league/tournament.h"

namespace league::tools {
namespace {

constexpr const char* kLocalBus = "local";

int fail(const core::Error& error) {
  std::cerr << "error: " << error.message << '\n';
  return 2;
}

std::size_t output_width() {
  constexpr std::size_t kWide = 120;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kWide;
}

/// From the journal, which has all of them. Without one there are none to tell.
std::vector<TechnicalLosses> losses_in(const std::filesystem::path& data) {
  auto book = read_book(data);
  if (book) return technical_losses_of(*book);
  std::cerr << "warning: the causes of technical losses cannot be read: "
            << safe_text(book.error().message) << '\n';
  return {};
}

int up(UpOptions options, transport::StopSignal& stop) {
  auto strategies = parse_strategies(options.strategies);
  if (!strategies) return fail(strategies.error());
  auto transports = parse_transports(options.transport_names);
  if (!transports) return fail(transports.error());
  options.transports = std::move(*transports);
  if (options.external > options.players) {
    return fail({core::ErrorCode::kInternalError,
                 "--external " + std::to_string(options.external) +
                     " is more than the --players of the league, " +
                     std::to_string(options.players),
                 {}});
  }
  core::SystemClock clock;
  auto directories = make_run_directories("runs", clock.utc_now(), {options.data, options.logs});
  if (!directories) return fail(directories.error());
  options.data = directories->data;
  options.logs = directories->logs;
  auto sockets = SocketDirectory::make_if(needs_sockets(options));
  if (!sockets) return fail(sockets.error());
  options.sockets = sockets->path();

  std::optional<LocalBroker> broker;
  if (options.bus == kLocalBus) {
    auto started = LocalBroker::start(options.data, options.logs, stop);
    if (!started) return fail(started.error());
    broker.emplace(std::move(*started));
    options.bus = broker->url();
  }
  LiveView view;
  bool as_json = options.json;
  bool keep = options.keep;
  Tournament tournament(std::move(options), std::move(*strategies), clock, stop, view);
  auto outcome = tournament.play();
  view.clear();
  bool stays = outcome && !outcome->was_interrupted && keep;
  if (!stays) tournament.stop_programs();
  if (!outcome) return fail(outcome.error());
  if (outcome->progress.technical_losses > 0)
    outcome->technical_losses = losses_in(directories->data);
  if (as_json) {
    std::cout << result_json(*outcome, *directories)
                     .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  } else {
    print_result(*outcome, *directories, output_width(), std::cout);
    std::cout.flush();
  }
  if (stays) {
    std::cerr << "the programs go on; the manager is at " << tournament.manager_url()
              << ". Ctrl-C ends them.\n";
    stop.wait();
    tournament.stop_programs();
  }
  return outcome->was_interrupted ? 1 : 0;
}

void add_people(CLI::App& command, UpOptions& options) {
  command.add_option("--players", options.players, "players in all")
      ->check(CLI::Range(2, 32000))
      ->capture_default_str();
  command
      .add_option("--external", options.external,
                  "of these, players that somebody else starts; they register at the address that "
                  "is printed")
      ->check(CLI::Range(0, 32000))
      ->capture_default_str();
  command.add_option("--referees", options.referees, "referees")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option(
          "--strategies", options.strategies,
          "strategies of the built-in players, separated by commas, dealt out in turn (all: "
          "`player --help`)")
      ->capture_default_str();
  command.add_option("--seed", options.seed,
                     "makes the strategies' choices repeatable; the draw stays random");
}

void add_setting(CLI::App& command, UpOptions& options) {
  command.add_option("--data", options.data,
                     "directory of the league's data (default: runs/TIME/data)");
  command.add_option("--logs", options.logs, "directory of the logs (default: runs/TIME/logs)");
  command
      .add_option("--limits", options.limits_file, "JSON file of limits (see config/limits.json)")
      ->check(CLI::ExistingFile);
  command
      .add_option("--mode", options.mode,
                  "open accepts what bots in the wild send and notes it, strict refuses it")
      ->check(CLI::IsMember({"open", "strict"}))
      ->capture_default_str();
  command
      .add_option("--transport", options.transport_names,
                  "how the programs call each other: " + agent::serving_names() +
                      "; several, separated by commas, are dealt out to the players in turn; "
                      "mixed: all of them")
      ->default_str("http");
  command.add_flag("--bus{local}", options.bus,
                   "play over a message bus: --bus starts a broker (nats-server) for this league, "
                   "--bus=nats://HOST:4222 takes one that runs");
  command.add_option("--max-matches", options.max_matches, "matches that a referee plays at once")
      ->check(CLI::Range(1, 10000));
  command.add_option("--league", options.league_id, "id of the league");
  command.add_option("--port", options.port, "port of the manager; 0 takes any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command.add_option("--bind", options.bind_address,
                     "numeric address that the manager listens on (default: 127.0.0.1)");
  command.add_option("--advertise", options.advertise,
                     "URL under which players elsewhere reach the manager");
  command
      .add_option("--allow-host", options.allow_hosts,
                  "further host name under which they may call it; may be given again")
      ->expected(1, -1);
}

}  // namespace

void add_up_command(CLI::App& app, transport::StopSignal& stop, std::function<int()>& chosen) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* command = app.add_subcommand("up", "play a whole league on this machine");
  add_people(*command, *options);
  add_setting(*command, *options);
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->add_flag("--keep", options->keep, "let the programs run on after the end, until Ctrl-C");
  command->footer(
      "Examples:\n"
      "  league up\n"
      "  league up --players 8 --referees 2 --strategies opposite,frequency,random --seed 7\n"
      "  league up --players 5 --external 1 --port 8000    (your bot registers at port 8000)\n"
      "  league up --players 6 --strategies random,slow:3000,crash --json\n"
      "Exit codes: 0 the league was played to its end, 1 it was interrupted, 2 it could not be "
      "played.");
  command->callback(
      [options, &stop, &chosen] { chosen = [options, &stop] { return up(*options, stop); }; });
}

}  // namespace league::tools
