#include "tools/bench/bench.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/core/own_program.h"
#include "tools/bench/bench_cost.h"
#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_report.h"
#include "tools/bench/bench_run.h"
#include "tools/bench/bench_sampler.h"
#include "tools/league/up/local_broker.h"
#include "tools/league/up/run_directory.h"

namespace league::tools::bench {
namespace {

using core::Result;

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
    const bool is_compared = options_.transport != agent::host::Serving::kHttp &&
                             options_.transport != agent::host::Serving::kOutward;
    if (is_compared) {
      auto compared = compare();
      if (!compared) return fail(compared.error());
      cost = *compared;
    }
    bool plays_no_league = options_.transport == agent::host::Serving::kStdio ||
                           options_.transport == agent::host::Serving::kNats;
    if (cost && (options_.is_cost_only || plays_no_league)) return show(*cost);
    auto report = measure_all();
    if (!report) return fail(report.error());
    if (!options_.keep) remove_logs();
    if (options_.as_json) {
      auto json = bench_json(*report);
      json["transport"] = agent::host::serving_name(options_.transport);
      if (cost) json["cost"] = cost_json(*cost);
      std::cout << json.dump(2) << '\n';
    } else {
      if (cost) std::cout << cost_text(*cost, name());
      std::cout << bench_text(*report);
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

  Result<BenchReport> measure_all() {
    BenchReport report;
    if (!options_.takes_samples) {
      report.no_samples = "--no-samples was given";
    } else if (auto tried = CodeSampler::start(); !tried) {
      report.no_samples = tried.error().message;
    }
    takes_samples_ = report.no_samples.empty();
    for (int players : options_.players) {
      auto match_path = measure(players, false);
      if (!match_path) return match_path.error();
      auto league = measure(players, true);
      if (!league) return league.error();
      report.sizes.push_back({*std::move(match_path), *std::move(league)});
    }
    auto single = measure_single_match(league_options(directory_ / "single-match"), stop_);
    if (!single) return single.error();
    report.single_match = *single;
    return report;
  }

  [[nodiscard]] BenchLeagueOptions league_options(std::filesystem::path directory) const {
    return {.programs = self_.parent_path(),
            .directory = std::move(directory),
            .concurrent_matches = options_.concurrent_matches,
            .transport = options_.transport,
            .sockets = sockets_.path(),
            .is_plain = options_.is_plain,
            .commits = options_.commits};
  }

  /// Measures several times; returns the run with the median speed.
  Result<BenchRun> measure(int players, bool broadcasts) {
    const std::string what = broadcasts ? "league" : "match-path";
    std::vector<BenchRun> runs;
    for (int i = 1; i <= options_.repeat; ++i) {
      BenchRunOptions options{
          .league = league_options(
              directory_ / (what + '-' + std::to_string(players) + '-' + std::to_string(i))),
          .self = self_,
          .seconds = static_cast<double>(options_.seconds),
          .takes_samples = takes_samples_,
          .keep = options_.keep};
      options.league.players = players;
      options.league.broadcasts = broadcasts;
      auto run = measure_leagues(options, stop_);
      if (!run) return run.error();
      std::fprintf(stderr, "%d players, %s %d/%d: %.0f matches/s, floor %.0f matches/s\n", players,
                   broadcasts ? "whole league" : "match path alone", i, options_.repeat,
                   run->traffic.matches_per_second(), run->floor_matches_per_second());
      runs.push_back(std::move(*run));
    }
    auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
    std::nth_element(runs.begin(), middle, runs.end(), [](const auto& a, const auto& b) {
      return a.traffic.matches_per_second() < b.traffic.matches_per_second();
    });
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
  bool takes_samples_ = true;
};

}  // namespace

int run_bench(const BenchOptions& options, transport::link::StopSignal& stop) {
  return Bench(options, stop).run();
}

}  // namespace league::tools::bench
