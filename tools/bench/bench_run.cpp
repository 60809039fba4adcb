#include "tools/bench/bench_run.h"

#include <algorithm>
#include <string>
#include <utility>

namespace league::tools::bench {
namespace {

// A league of two has only one match, so that the latency of its calls would be that of their
// first connections. This one has 276, two players at a time.
constexpr int kSingleMatchPlayers = 24;
constexpr double kFloorShare = 0.3;  // of the time of the leagues
constexpr double kLongestFloor = 3;  // seconds

void add_costs(std::vector<ProcessCost>& sum, std::vector<ProcessCost> costs) {
  if (sum.empty()) {
    sum = std::move(costs);
    return;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i].add(costs[i]);
}

/// Plays one league and adds it up.
core::Result<void> play_one(const BenchLeagueOptions& options, bool keep, BenchRun& run,
                            TrafficReader& reader, transport::link::StopSignal& stop) {
  auto costs = play_bench_league(options, stop);
  if (!costs) return costs.error();
  add_costs(run.processes, *std::move(costs));
  ++run.leagues;
  const double before = reader.seconds();
  if (auto added = reader.add_league(options.directory / "logs"); !added) return added;
  if (!keep) std::filesystem::remove_all(options.directory);
  if (reader.seconds() > before) return {};
  return core::Error{core::ErrorCode::kInternalError, "a league has played no match", {}};
}

/// Plays one more league, at least in part, and looks at what the programs do.
core::Result<void> take_samples(const BenchRunOptions& options, BenchRun& run,
                                transport::link::StopSignal& stop) {
  if (!options.takes_samples) return {};
  BenchLeagueOptions league = options.league;
  league.directory /= "samples";
  league.sample_seconds = options.seconds;
  auto costs = play_bench_league(league, stop);
  if (!costs) return costs.error();
  for (std::size_t i = 0; i < run.processes.size(); ++i)
    run.processes[i].samples = std::move((*costs)[i].samples);
  if (!options.keep) std::filesystem::remove_all(league.directory);
  return {};
}

}  // namespace

double BenchRun::cpu_seconds() const {
  double sum = 0;
  for (const auto& process : processes) sum += process.cpu.total();
  return sum;
}

core::Result<BenchRun> measure_leagues(const BenchRunOptions& options,
                                       transport::link::StopSignal& stop) {
  BenchRun run;
  run.players = options.league.players;
  const FloorOptions floor{.program = options.self,
                           .directory = options.league.directory,
                           .players = options.league.players,
                           .concurrent_matches = options.league.concurrent_matches,
                           .seconds = std::min(kLongestFloor, kFloorShare * options.seconds)};
  auto before = measure_floor(floor);
  if (!before) return before.error();
  run.floor_before = *before;
  TrafficReader reader;
  while (reader.seconds() < options.seconds) {
    BenchLeagueOptions league = options.league;
    league.directory /= "league-" + std::to_string(run.leagues + 1);
    auto played = play_one(league, options.keep, run, reader, stop);
    if (!played) return played.error();
  }
  auto after = measure_floor(floor);
  if (!after) return after.error();
  run.floor_after = *after;
  run.traffic = reader.traffic();
  // The calls to players that come to the manager arrive there by HTTP.
  const bool is_outward = options.league.transport == agent::host::Serving::kOutward;
  auto echo = measure_echo(
      {.program = options.self,
       .directory = options.league.directory,
       .transport = is_outward ? agent::host::Serving::kHttp : options.league.transport,
       .players = options.league.players},
      run.traffic);
  if (!echo) return echo.error();
  run.echo = *echo;
  if (auto taken = take_samples(options, run, stop); !taken) return taken.error();
  return run;
}

core::Result<LeagueTraffic> measure_single_match(BenchLeagueOptions options,
                                                 transport::link::StopSignal& stop) {
  options.players = kSingleMatchPlayers;
  options.concurrent_matches = 1;
  options.broadcasts = false;
  BenchRun run;
  TrafficReader reader;
  if (auto played = play_one(options, true, run, reader, stop); !played) return played.error();
  return reader.traffic();
}

}  // namespace league::tools::bench
