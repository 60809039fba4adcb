#pragma once

#include <string>
#include <vector>

#include "common/core/result.h"
#include "tools/bench/bench_traffic.h"

namespace league::tools::bench {

/// The cost of one step of handling messages, for all processes together.
struct StageCost {
  std::string name;
  double cpu_seconds = 0;
};

/// The cost of reading, validating, writing and logging the messages of a league: each kind of
/// message is put through the same library functions again, on this thread, and its processor time
/// is multiplied by how often it occurred. An estimate: caches are warmer here, and there is no
/// contention for locks or memory.
[[nodiscard]] core::Result<std::vector<StageCost>> measure_stages(const LeagueTraffic& traffic);

}  // namespace league::tools::bench
