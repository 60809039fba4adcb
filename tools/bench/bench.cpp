#include "tools/bench/bench.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/core/own_program.h"
#include "tools/bench/bench_cost.h"
#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_league.h"
#include "tools/bench/bench_report.h"
#include "tools/league/up/local_broker.h"
#include "tools/league/up/run_directory.h"

namespace league::tools::bench {
namespace {

using core::Result;

Result<BenchRun> measure_once(const BenchLeagueOptions& options, const std::filesystem::path& self,
                              transport::link::StopSignal& stop) {
  BenchRun run;
  auto costs = play_bench_league(options, stop);
  if (!costs) return costs.error();
  run.processes = std::move(*costs);
  auto traffic = measure_traffic(options.directory / "logs");
  if (!traffic) return traffic.error();
  run.traffic = std::move(*traffic);
  auto echo = measure_echo({.program = self,
                            .directory = options.directory,
                            .transport = options.transport,
                            .players = options.players},
                           run.traffic);
  if (!echo) return echo.error();
  run.echo = *echo;
  return run;
}

std::filesystem::path fresh_directory() {
  std::array<char, 32> text{};
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::strftime(text.data(), text.size(), "bench-%Y%m%dT%H%M%SZ", &parts);
  return std::filesystem::path("runs") / text.data();
}

class Bench {
 public:
  Bench(const BenchOptions& options, transport::link::StopSignal& stop)
      : options_(options),
        stop_(stop),
        self_(core::own_program()),
        directory_(options.directory.empty() ? fresh_directory() : options.directory) {}

  int run() {
    auto made = SocketDirectory::make_if(options_.transport == agent::host::Serving::kUnix);
    if (!made) return fail(made.error());
    sockets_ = std::move(*made);
    std::optional<CostComparison> cost;
    if (options_.transport != agent::host::Serving::kHttp) {
      auto compared = compare();
      if (!compared) return fail(compared.error());
      cost = *compared;
    }
    bool plays_no_league = options_.transport == agent::host::Serving::kStdio ||
                           options_.transport == agent::host::Serving::kNats;
    if (options_.is_cost_only || plays_no_league) return show(*cost);
    auto match_path = measure("match path alone", false);
    if (!match_path) return fail(match_path.error());
    auto league = measure("whole league", true);
    if (!league) return fail(league.error());
    if (!options_.keep) remove_logs();
    if (options_.as_json) {
      auto json = bench_json(*match_path, *league);
      json["transport"] = agent::host::serving_name(options_.transport);
      if (cost) json["cost"] = cost_json(*cost);
      std::cout << json.dump(2) << '\n';
    } else {
      if (cost) std::cout << cost_text(*cost, name());
      std::cout << bench_text("match path alone (broadcasts off)", *match_path)
                << bench_text("whole league (all broadcasts)", *league);
    }
    return 0;
  }

 private:
  [[nodiscard]] std::string name() const {
    return std::string(agent::host::serving_name(options_.transport));
  }

  Result<CostComparison> compare() {
    std::filesystem::create_directories(directory_);
    EchoOptions echo{.program = self_, .directory = directory_, .transport = options_.transport};
    std::optional<LocalBroker> broker;
    if (options_.transport == agent::host::Serving::kNats) {
      auto started = LocalBroker::start(directory_, directory_, stop_);
      if (!started) return started.error();
      broker.emplace(std::move(*started));
      echo.bus = broker->url();
    }
    return compare_cost(std::move(echo), std::max(3, options_.repeat));
  }

  int show(const CostComparison& cost) {
    if (!options_.keep) remove_logs();
    if (options_.as_json) {
      std::cout << nlohmann::json{{"transport", name()}, {"cost", cost_json(cost)}}.dump(2) << '\n';
    } else {
      std::cout << cost_text(cost, name());
    }
    return 0;
  }

  /// Runs the benchmark several times; returns the run with the median speed, with its stages.
  Result<BenchRun> measure(const std::string& what, bool broadcasts) {
    std::vector<BenchRun> runs;
    for (int i = 0; i < options_.repeat; ++i) {
      auto directory =
          directory_ / ((broadcasts ? "league-" : "match-path-") + std::to_string(i + 1));
      auto run = measure_once({.programs = self_.parent_path(),
                               .directory = directory,
                               .players = options_.players,
                               .concurrent_matches = options_.concurrent_matches,
                               .broadcasts = broadcasts,
                               .transport = options_.transport,
                               .sockets = sockets_.path(),
                               .is_plain = options_.is_plain,
                               .commits = options_.commits},
                              self_, stop_);
      if (!run) return run.error();
      if (!options_.keep) std::filesystem::remove_all(directory);
      std::fprintf(stderr, "%s %d/%d: %.0f matches/s, %.0f calls/s, echo %.0f calls/s\n",
                   what.c_str(), i + 1, options_.repeat, run->traffic.matches_per_second(),
                   run->traffic.calls_per_second(), run->echo.calls_per_second());
      runs.push_back(std::move(*run));
    }
    auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
    std::nth_element(runs.begin(), middle, runs.end(), [](const auto& a, const auto& b) {
      return a.traffic.matches_per_second() < b.traffic.matches_per_second();
    });
    auto stages = measure_stages(middle->traffic);
    if (!stages) return stages.error();
    middle->stages = std::move(*stages);
    return std::move(*middle);
  }

  int fail(const core::Error& error) {
    std::fprintf(stderr, "error: %s (%s)\n", error.message.c_str(), directory_.c_str());
    return 2;
  }

  void remove_logs() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  const BenchOptions& options_;
  transport::link::StopSignal& stop_;
  const std::filesystem::path self_;
  const std::filesystem::path directory_;
  SocketDirectory sockets_;
};

}  // namespace

int run_bench(const BenchOptions& options, transport::link::StopSignal& stop) {
  return Bench(options, stop).run();
}

}  // namespace league::tools::bench
