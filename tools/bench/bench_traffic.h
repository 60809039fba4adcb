#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::tools::bench {

/// All messages of one kind in one agent's calls, or in the answers to them.
struct MessageGroup {
  std::string message_type;  ///< empty for a plain acknowledgement
  bool is_reply = false;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::string sample;  ///< one of them, tokens masked
};

/// The calls of one process, from its conversation log.
struct CallerTraffic {
  std::uint64_t calls = 0;  ///< answered calls
  std::uint64_t failures = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t reply_bytes = 0;
  double busy_seconds = 0;  ///< sum of the times from request to answer

  [[nodiscard]] std::uint64_t mean_request() const {
    return calls == 0 ? 0 : request_bytes / calls;
  }
};

/// Figures of a league, measured from its conversation logs.
struct LeagueTraffic {
  CallerTraffic manager;
  CallerTraffic referee;
  std::vector<MessageGroup> groups;
  std::uint64_t matches = 0;
  double seconds = 0;  ///< from the first announcement to the last answer that counts
  std::int64_t call_p50_us = 0;
  std::int64_t call_p99_us = 0;
  std::int64_t match_p50_us = 0;  ///< first to last message of a match
  std::int64_t match_p99_us = 0;

  [[nodiscard]] std::uint64_t calls() const { return manager.calls + referee.calls; }
  [[nodiscard]] double calls_per_second() const {
    return seconds > 0 ? static_cast<double>(calls()) / seconds : 0;
  }
  [[nodiscard]] double matches_per_second() const {
    return seconds > 0 ? static_cast<double>(matches) / seconds : 0;
  }
};

/// Reads the logs of the manager and the referees below `logs`; the players' logs contain the same
/// calls again.
[[nodiscard]] core::Result<LeagueTraffic> measure_traffic(const std::filesystem::path& logs);

/// The value below which `share` (0 … 1) of `values` lie; 0 if there are none. Sorts `values`.
[[nodiscard]] std::int64_t percentile(std::vector<std::int64_t>& values, double share);

}  // namespace league::tools::bench
