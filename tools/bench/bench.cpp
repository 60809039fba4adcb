#include "tools/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/core/own_program.h"
#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_report.h"
#include "tools/bench/bench_run.h"
#include "tools/bench/bench_sampler.h"
#include "tools/league/up/local_broker.h"
#include "tools/league/up/run_directory.h"

namespace league::tools::bench {
namespace {

using core::Result;

/// The cost of one call over one transport.
struct CallCost {
  double calls_per_second = 0;  ///< with 32 calls in flight
  double cpu_us = 0;  ///< processor time of both sides, in the same run
  double sequential_us = 0;  ///< one call after the other

  [[nodiscard]] double wall_us() const { return calls_per_second > 0 ? 1e6 / calls_per_second : 0; }
};

/// The comparison of one transport with HTTP and JSON.
struct CostComparison {
  CallCost http;
  CallCost other;

  /// The time per call relative to HTTP, with many calls in flight.
  [[nodiscard]] double ratio() const { return other.wall_us() / http.wall_us(); }
  [[nodiscard]] double cpu_ratio() const { return other.cpu_us / http.cpu_us; }
  [[nodiscard]] double sequential_ratio() const { return other.sequential_us / http.sequential_us; }
};

constexpr std::uint64_t kCalls = 20'000;
constexpr std::uint64_t kSequentialCalls = 4'000;
constexpr std::uint64_t kBodyBytes = 468;  // of a CHOOSE_PARITY_CALL
constexpr int kInFlight = 32;

LeagueTraffic calls(std::uint64_t count, int in_flight) {
  LeagueTraffic traffic;
  traffic.seconds = 1;
  traffic.referee.calls = count;
  traffic.referee.request_bytes = count * kBodyBytes;
  traffic.referee.reply_bytes = count * kBodyBytes;
  traffic.referee.busy_seconds = in_flight;  // so that the echo has this many in flight
  return traffic;
}

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Samples {
  std::vector<double> calls_per_second;
  std::vector<double> cpu_us;
  std::vector<double> sequential_us;

  Result<void> add(const EchoOptions& options) {
    auto busy = measure_echo(options, calls(kCalls, kInFlight));
    if (!busy) return busy.error();
    calls_per_second.push_back(busy->calls_per_second());
    cpu_us.push_back(busy->cpu_seconds * 1e6 / static_cast<double>(busy->calls));
    auto single = measure_echo(options, calls(kSequentialCalls, 1));
    if (!single) return single.error();
    sequential_us.push_back(single->seconds * 1e6 / static_cast<double>(single->calls));
    return {};
  }

  [[nodiscard]] CallCost medians() const {
    return {median(calls_per_second), median(cpu_us), median(sequential_us)};
  }
};

double to_hundredths(double value) { return std::round(value * 100) / 100; }

nlohmann::json side(const CallCost& cost) {
  return {{"calls_per_second", std::round(cost.calls_per_second)},
          {"call_us", to_hundredths(cost.wall_us())},
          {"cpu_us", to_hundredths(cost.cpu_us)},
          {"sequential_us", to_hundredths(cost.sequential_us)}};
}

/// Measures echoes over HTTP and over `options.transport` in turn, `repeat` times each, with one
/// address and bodies of the usual size; returns the medians. The directory must exist.
Result<CostComparison> compare_cost(EchoOptions options, int repeat) {
  const agent::host::Serving other = options.transport;
  options.players = 1;
  Samples http;
  Samples compared;
  for (int i = 0; i < repeat; ++i) {
    options.transport = agent::host::Serving::kHttp;
    auto bus = std::exchange(options.bus, "");
    if (auto added = http.add(options); !added) return added.error();
    options.transport = other;
    options.bus = std::move(bus);
    if (auto added = compared.add(options); !added) return added.error();
  }
  return CostComparison{http.medians(), compared.medians()};
}

nlohmann::json cost_json(const CostComparison& cost) {
  return {{"http", side(cost.http)},
          {"transport", side(cost.other)},
          {"ratio", to_hundredths(cost.ratio())},
          {"cpu_ratio", to_hundredths(cost.cpu_ratio())},
          {"sequential_ratio", to_hundredths(cost.sequential_ratio())}};
}

std::string cost_text(const CostComparison& cost, const std::string& transport) {
  constexpr std::size_t kLongest = 400;
  std::string text(kLongest, '\0');
  int size = std::snprintf(text.data(), text.size(),
                           "cost of a call over %s, and over http\n"
                           "  with 32 in flight %.1f us (%.0f calls/s), http %.1f us: ratio %.2f\n"
                           "  processor time of both sides %.1f us, http %.1f us: ratio %.2f\n"
                           "  one after the other %.1f us, http %.1f us: ratio %.2f\n",
                           transport.c_str(), cost.other.wall_us(), cost.other.calls_per_second,
                           cost.http.wall_us(), cost.ratio(), cost.other.cpu_us, cost.http.cpu_us,
                           cost.cpu_ratio(), cost.other.sequential_us, cost.http.sequential_us,
                           cost.sequential_ratio());
  text.resize(std::min(kLongest - 1, static_cast<std::size_t>(std::max(size, 0))));
  return text;
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
