#pragma once

#include <chrono>
#include <string>

#include "common/transport/link/signals.h"

namespace league::tools::bench {

/// The options of `league bench bots`.
struct BenchBotsOptions {
  std::string bus;  ///< URLs of brokers
  std::string league;  ///< empty: the one that answers first
  std::string name = "bot";  ///< each bot's number is appended
  int count = 64;
  std::chrono::milliseconds think{0};  ///< before each answer to a game call
};

/// Runs bots on a bus for load tests. The bots need very little processor time: unlike `player`,
/// they only register (docs/distributed.md) and answer calls; they check and store nothing. Prints
/// `ready` on stdout when all are registered; plays until a signal arrives. Returns the exit code.
[[nodiscard]] int run_bench_bots(const BenchBotsOptions& options,
                                 transport::link::StopSignal& stop);

}  // namespace league::tools::bench
