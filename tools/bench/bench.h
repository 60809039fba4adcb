#pragma once

#include <filesystem>

#include "common/agent/host/serving.h"
#include "common/transport/link/signals.h"

namespace league::tools::bench {

/// What `league bench` measures.
struct BenchOptions {
  int players = 64;
  int concurrent_matches = 32;  ///< places of the referee
  int repeat = 3;  ///< leagues of each kind; the one with the median speed is shown
  std::filesystem::path directory;  ///< for logs; empty: a fresh one below runs/
  bool keep = false;  ///< the logs
  bool is_cost_only = false;  ///< measure only the cost of a call, compared with HTTP
  bool as_json = false;
  agent::host::Serving transport =
      agent::host::Serving::kHttp;  ///< of all three programs and the echo
  bool is_plain = false;  ///< without journal, hash chains and seals
  bool commits = true;  ///< players commit to their choices
};

/// Measures the match path and the whole league, each in comparison with an echo, and prints the
/// results; a signal ends it early. Returns the exit code.
[[nodiscard]] int run_bench(const BenchOptions& options, transport::link::StopSignal& stop);

}  // namespace league::tools::bench
