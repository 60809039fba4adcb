#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/core/result.h"
#include "common/transport/link/signals.h"
#include "tools/bench/bench_child.h"
#include "tools/bench/bench_work.h"

namespace league::tools::bench {

/// One league to be measured: three real processes, full log and validation.
struct BenchLeagueOptions {
  std::filesystem::path programs;  ///< directory of the executables
  std::filesystem::path directory;  ///< for logs, data and the output of the programs
  int players = 64;
  int concurrent_matches = 32;  ///< places of the one referee
  bool broadcasts = true;  ///< false: only the match path
  agent::host::Serving transport = agent::host::Serving::kHttp;  ///< not kStdio
  std::filesystem::path sockets;  ///< directory of Unix sockets, if they are used
  bool is_plain = false;  ///< without journal, hash chains and seals
  bool commits = true;  ///< players commit to their choices
  /// Not 0: samples are taken, if the system permits it, and the league is left after this time.
  double sample_seconds = 0;
};

/// The resources that one of the three processes used between the last registration and the end.
struct ProcessCost {
  std::string name;
  CpuTime cpu;
  long peak_memory = 0;  ///< bytes
  ThreadSwitches switches;
  WorkCounts samples;  ///< of its code outside the kernel; empty if none were taken

  /// Adds what the same program used in another league, without samples.
  void add(const ProcessCost& other);
  /// The processor time by kind. The system says how much of it passed in the kernel, and the
  /// samples divide the rest; without samples, the rest is kOther.
  [[nodiscard]] WorkSeconds work() const;
};

/// Plays the league to its end, unless samples are taken; afterwards `directory/logs` holds its
/// conversation logs. Fails with kShuttingDown at a signal, otherwise with the output of the
/// program that did not start or did not end.
[[nodiscard]] core::Result<std::vector<ProcessCost>> play_bench_league(
    const BenchLeagueOptions& options, transport::link::StopSignal& stop);

}  // namespace league::tools::bench
