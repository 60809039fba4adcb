#pragma once

#include <filesystem>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/signals.h"
#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_floor.h"
#include "tools/bench/bench_league.h"
#include "tools/bench/bench_traffic.h"

namespace league::tools::bench {

/// Leagues that were played one after the other, and what they are compared with: the floor before
/// and after them, and the echo after them.
struct BenchRun {
  int players = 0;
  int leagues = 0;
  std::vector<ProcessCost> processes;
  LeagueTraffic traffic;
  EchoResult echo;
  FloorResult floor_before;
  FloorResult floor_after;

  /// Calls per second relative to the echo.
  [[nodiscard]] double ratio() const {
    return echo.calls > 0 ? traffic.calls_per_second() / echo.calls_per_second() : 0;
  }
  /// The mean of both floors.
  [[nodiscard]] double floor_matches_per_second() const {
    return (floor_before.matches_per_second() + floor_after.matches_per_second()) / 2;
  }
  /// The processor time of a match of both floors.
  [[nodiscard]] double floor_cpu_us_per_match() const {
    return (floor_before.cpu_us_per_match() + floor_after.cpu_us_per_match()) / 2;
  }
  /// Matches per second relative to the floor.
  [[nodiscard]] double ratio_to_floor() const {
    const double floor = floor_matches_per_second();
    return floor > 0 ? traffic.matches_per_second() / floor : 0;
  }
  /// Of all three programs.
  [[nodiscard]] double cpu_seconds() const;
};

/// The options of measure_leagues.
struct BenchRunOptions {
  BenchLeagueOptions league;  ///< the directory is that of the run, and each league has one in it
  std::filesystem::path self;  ///< this executable
  double seconds = 10;  ///< how long the leagues take together, at least
  bool takes_samples = true;  ///< of the code that the programs execute, in one more league
  bool keep = false;  ///< the directories of the leagues
};

/// Plays leagues to their end, one after the other, until they have taken long enough; each has
/// programs and logs of its own. Starting the programs is not counted. Samples are taken in another
/// league, because they slow it down: they only divide the processor time. Fails as
/// play_bench_league, or with kInternalError if a league has played no match.
[[nodiscard]] core::Result<BenchRun> measure_leagues(const BenchRunOptions& options,
                                                     transport::link::StopSignal& stop);

/// The calls of one league with a single match at a time, without broadcasts: its referee has one
/// place, so nothing waits for another match. Fails as measure_leagues.
[[nodiscard]] core::Result<LeagueTraffic> measure_single_match(BenchLeagueOptions options,
                                                               transport::link::StopSignal& stop);

}  // namespace league::tools::bench
