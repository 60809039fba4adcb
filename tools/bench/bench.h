#pragma once

#include <filesystem>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/transport/link/signals.h"

namespace league::tools::bench {

/// What `league bench` measures.
struct BenchOptions {
  std::vector<int> players = {64, 300};  ///< one measurement of each kind for each number
  int concurrent_matches = 32;  ///< places of the referee
  int seconds = 10;  ///< how long the leagues of one measurement take together, at least
  int repeat = 1;  ///< measurements of each kind; the one with the median speed is shown
  std::filesystem::path directory;  ///< for logs; empty: a fresh one below runs/
  bool keep = false;  ///< the logs
  bool is_cost_only = false;  ///< measure only the cost of a call, compared with HTTP
  bool as_json = false;
  agent::host::Serving transport =
      agent::host::Serving::kHttp;  ///< of all three programs and the echo
  bool is_plain = false;  ///< without journal, hash chains and seals
  bool commits = true;  ///< players commit to their choices
  bool takes_samples = true;  ///< of the code that the programs execute, in a league of their own
};

/// Measures the match path and the whole league, each in comparison with the floor and an echo, and
/// the calls of a single match, and prints the results; a signal ends it early. Returns the exit
/// code.
[[nodiscard]] int run_bench(const BenchOptions& options, transport::link::StopSignal& stop);

}  // namespace league::tools::bench
