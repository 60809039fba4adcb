// `league bench`.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "common/agent/host/option_table.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/socket.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_bots.h"
#include "tools/bench/bench_echo.h"

namespace league::tools::bench {
namespace {

void add_bench(CLI::App& bench, transport::link::StopSignal& stop, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchOptions>();
  bench.add_option("--players", options->players, "bots, all in one process")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  bench.add_option("--matches-at-once", options->concurrent_matches, "capacity of the one referee")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench
      .add_option("--repeat", options->repeat,
                  "leagues of each kind; the one with the median speed is shown")
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
  bench.add_flag("--json", options->as_json, "one JSON object on stdout");
  bench.footer("Example: league bench --json --repeat 5");
  bench.callback([options, transport, &bench, &stop, &chosen] {
    if (!bench.get_subcommands().empty()) return;
    options->transport =
        agent::host::parse_serving(*transport).value_or(agent::host::Serving::kNats);
    if (options->is_cost_only && options->transport == agent::host::Serving::kHttp)
      throw CLI::ValidationError("--calls-only", "compares a transport with http: name it");
    chosen = [options, &stop] { return run_bench(*options, stop); };
  });
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

void add_bots(CLI::App& app, transport::link::StopSignal& stop, std::function<int()>& chosen) {
  auto options = std::make_shared<BenchBotsOptions>();
  auto think = std::make_shared<int>(0);
  auto* bots = app.add_subcommand(
      "bots", "start bots on a message bus that only answer and store nothing, for load tests");
  bots->add_option("--bus", options->bus, "nats://HOST:PORT")->required();
  bots->add_option("--league", options->league, "id of the league, if the broker has several");
  bots->add_option("--name", options->name, "name of the bots, to which a number is added")
      ->capture_default_str();
  bots->add_option("--count", options->count, "number of bots")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  bots->add_option("--think", *think, "milliseconds before each answer to a game call")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  bots->footer("Example: league bench bots --bus nats://127.0.0.1:4222 --count 512 --think 20");
  bots->callback([options, think, &stop, &chosen] {
    options->think = std::chrono::milliseconds(*think);
    chosen = [options, &stop] { return run_bench_bots(*options, stop); };
  });
}

int run_command_line(int argc, char** argv, transport::link::StopSignal& stop) {
  std::function<int()> chosen;
  CLI::App app(
      "Measures how fast whole leagues are on this machine, compared with an empty echo over the "
      "same transport.",
      "league bench");
  app.set_version_flag("--version", std::string(LEAGUE_VERSION));
  app.require_subcommand(0, 1);
  add_bench(app, stop, chosen);
  add_echo(app, chosen);
  add_bots(app, stop, chosen);
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
