#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_league.h"
#include "tools/bench/bench_stages.h"
#include "tools/bench/bench_traffic.h"

namespace league::tools::bench {

/// One league and the echo that ran after it.
struct BenchRun {
  std::vector<ProcessCost> processes;
  LeagueTraffic traffic;
  EchoResult echo;
  std::vector<StageCost> stages;

  /// Calls per second relative to the echo.
  [[nodiscard]] double ratio() const {
    return echo.calls > 0 ? traffic.calls_per_second() / echo.calls_per_second() : 0;
  }
};

/// The measured stages, then the transport (what the echo needed for the same number of calls) and
/// the rest.
[[nodiscard]] std::vector<StageCost> all_stages(const BenchRun& run);

/// The output of `league bench --json`.
[[nodiscard]] nlohmann::json bench_json(const BenchRun& match_path, const BenchRun& league);
/// The figures of one run, for people.
[[nodiscard]] std::string bench_text(const std::string& title, const BenchRun& run);

}  // namespace league::tools::bench
