// `league bench`.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "common/agent/host/option_table.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_floor.h"

namespace league::tools::bench {
namespace {

constexpr const char* kFooter =
    "Each kind is measured for each number of players: the match path alone (no broadcasts), and\n"
    "the whole league. In the same run two other things are measured. The floor is a match as "
    "bytes\n"
    "only: three processes exchange the seven HTTP calls of a match, with no JSON, no validation\n"
    "and no log; it is measured before and after the leagues. The echo makes the calls of the\n"
    "leagues without their meaning, through our own HTTP client and server.\n"
    "Examples:\n"
    "  league bench --players 64,300,1000\n"
    "  league bench --players 64 --seconds 1                   (short)\n"
    "  league bench --json --repeat 5";

void add_bench(CLI::App& bench, transport::link::StopSignal& stop, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchOptions>();
  bench
      .add_option(
          "--players", options->players,
          "bots, all in one process; several numbers, separated by commas, are measured one "
          "after the other")
      ->delimiter(',')
      ->check(CLI::Range(16, 1000))
      ->default_str("64,300");
  bench
      .add_option("--seconds", options->seconds,
                  "how long leagues of each kind are played, at least. A league is played to its "
                  "end, and then another one until the time is reached")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  bench.add_option("--matches-at-once", options->concurrent_matches, "capacity of the one referee")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench
      .add_option("--repeat", options->repeat,
                  "measurements of each kind; the one with the median speed is shown")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  bench.add_option("--dir", options->directory,
                   "directory of the logs (default: a new directory runs/bench-*)");
  auto transport = std::make_shared<std::string>("http");
  std::vector<std::string> names;
  for (agent::host::Serving serving : agent::host::kAllServings)
    names.emplace_back(agent::host::serving_name(serving));
  names.emplace_back(agent::host::serving_name(agent::host::Serving::kNats));
  bench
      .add_option("--transport", *transport,
                  "how the programs call each other; for a transport other than http, a call is "
                  "first compared with one over http (for stdio and nats nothing else is measured)")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  bench.add_flag("--calls-only", options->is_cost_only,
                 "with --transport: only compare the calls, without a league");
  bench.add_flag("--keep", options->keep, "keep the logs");
  bench.add_flag("--plain", options->is_plain,
                 "without journal, hash chains and seals: the difference is what they cost");
  bench.add_flag("!--no-commitments", options->commits,
                 "players do not commit to their choices: the difference is what that costs");
  bench.add_flag(
      "!--no-samples", options->takes_samples,
      "do not play one more league of each kind, in which samples show what the programs "
      "do outside the kernel");
  bench.add_flag("--json", options->as_json, "one JSON object on stdout");
  bench.footer(kFooter);
  bench.callback([options, transport, &bench, &stop, &chosen] {
    if (!bench.get_subcommands().empty()) return;
    options->transport =
        agent::host::parse_serving(*transport).value_or(agent::host::Serving::kNats);
    if (options->is_cost_only && options->transport == agent::host::Serving::kHttp)
      throw CLI::ValidationError("--calls-only", "compares a transport with http: name it");
    chosen = [options, &stop] { return run_bench(*options, stop); };
  });
}

void add_floor(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<FloorPeerOptions>();
  auto* floor = app.add_subcommand("floor", "one process of the floor under a match");
  floor->group("");  // hidden
  floor->add_option("--role", options->role);
  floor->add_option("--players-port", options->players_port);
  floor->add_option("--manager-port", options->manager_port);
  floor->add_option("--players", options->players)->check(CLI::Range(2, 1000));
  floor->add_option("--matches-at-once", options->concurrent_matches)->check(CLI::Range(1, 1000));
  floor->add_option("--seconds", options->seconds);
  agent::host::when_given(*floor, chosen, [options] { return run_floor_peer(*options); });
}

void add_echo(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<EchoPeerOptions>();
  auto* echo = app.add_subcommand("echo", "one process of the echo with which calls are compared");
  echo->group("");  // hidden
  echo->add_option("--role", options->role);
  echo->add_option("--transport", options->transport);
  echo->add_option("--socket", options->socket);
  echo->add_option("--bus", options->bus);
  echo->add_option("--ports", options->ports);
  echo->add_option("--reply-bytes", options->reply_bytes);
  echo->add_option("--targets", options->targets)->delimiter(',');
  echo->add_option("--seventh", options->seventh);
  echo->add_option("--calls", options->calls);
  echo->add_option("--request-bytes", options->request_bytes);
  echo->add_option("--in-flight", options->in_flight);
  agent::host::when_given(*echo, chosen, [options] { return run_echo_peer(*options); });
}

int run_command_line(int argc, char** argv, transport::link::StopSignal& stop) {
  std::function<int()> chosen;
  CLI::App app(
      "Measures how fast whole leagues are on this machine, compared with a match as bytes only, "
      "and what the programs need processor time for.",
      "league bench");
  app.set_version_flag("--version", std::string(LEAGUE_VERSION));
  app.require_subcommand(0, 1);
  add_bench(app, stop, chosen);
  add_floor(app, chosen);
  add_echo(app, chosen);
  if (auto code = agent::host::parse_arguments(app, argc, argv)) return *code;
  return chosen();
}

}  // namespace
}  // namespace league::tools::bench

int main(int argc, char** argv) {
  league::transport::link::StopSignal stop;
  league::transport::link::raise_file_limit();
  return league::tools::bench::run_command_line(argc, argv, stop);
}
