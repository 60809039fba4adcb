#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/agent/host/serving.h"
#include "common/core/result.h"
#include "common/transport/link/signals.h"
#include "tools/bench/bench_child.h"

namespace league::tools {

/// One league to be measured: three real processes, full log and validation.
struct BenchLeagueOptions {
  std::filesystem::path programs;  ///< directory of the executables
  std::filesystem::path directory;  ///< for logs, data and what the programs say
  int players = 64;
  int concurrent_matches = 32;  ///< places of the one referee
  bool broadcasts = true;  ///< false: the match path alone
  agent::Serving transport = agent::Serving::kHttp;  ///< not kStdio
  std::filesystem::path sockets;  ///< directory of Unix sockets, where they are used
  bool is_plain = false;  ///< without journal, hash chains and seals
  bool commits = true;  ///< players bind their choices
};

/// What one of the three processes has used between the last registration and the end.
struct ProcessCost {
  std::string name;
  CpuTime cpu;
  long peak_memory = 0;  ///< bytes
};

/// Plays the league to its end; afterwards `directory/logs` holds its conversation logs. Fails with
/// kShuttingDown at a signal, else with what the program that did not come up or did not end said.
[[nodiscard]] core::Result<std::vector<ProcessCost>> play_bench_league(
    const BenchLeagueOptions& options, transport::StopSignal& stop);

}  // namespace league::tools
