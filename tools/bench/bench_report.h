#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/bench/bench_run.h"

namespace league::tools::bench {

/// What was measured with one number of players.
struct SizeReport {
  BenchRun match_path;
  BenchRun league;
};

/// All that `league bench` has measured, except the comparison of transports.
struct BenchReport {
  std::vector<SizeReport> sizes;  ///< at least one
  LeagueTraffic single_match;  ///< see measure_single_match
  std::string no_samples;  ///< why there are no samples of running code; empty: there are
};

/// The output of `league bench --json`. `match_path` and `league` are those of the first size.
[[nodiscard]] nlohmann::json bench_json(const BenchReport& report);
/// The same for people.
[[nodiscard]] std::string bench_text(const BenchReport& report);

}  // namespace league::tools::bench
