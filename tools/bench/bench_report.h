#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/bench/bench_echo.h"
#include "tools/bench/bench_league.h"
#include "tools/bench/bench_stages.h"
#include "tools/bench/bench_traffic.h"

namespace league::tools {

/// One league and the echo that ran after it.
struct BenchRun {
  std::vector<ProcessCost> processes;
  LeagueTraffic traffic;
  EchoResult echo;
  std::vector<StageCost> stages;

  /// Calls per second, as a part of the echo's.
  [[nodiscard]] double ratio() const {
    return echo.calls > 0 ? traffic.calls_per_second() / echo.calls_per_second() : 0;
  }
};

/// The stages with what the measured ones leave over: the transport, as much as the echo needed
/// for as many calls, and everything else.
[[nodiscard]] std::vector<StageCost> all_stages(const BenchRun& run);

/// What `league bench --json` prints.
[[nodiscard]] nlohmann::json bench_json(const BenchRun& match_path, const BenchRun& league);
/// The same for people.
[[nodiscard]] std::string bench_text(const std::string& title, const BenchRun& run);

}  // namespace league::tools
