#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/audit/log/log_reader.h"
#include "common/core/result.h"

namespace league::tools::bench {

/// The calls of one program, from its conversation logs.
struct CallerTraffic {
  std::uint64_t calls = 0;  ///< answered calls
  std::uint64_t failures = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t reply_bytes = 0;
  double busy_seconds = 0;  ///< sum of the times from request to answer
  std::int64_t p50_us = 0;  ///< from request to answer
  std::int64_t p99_us = 0;

  [[nodiscard]] std::uint64_t mean_request() const {
    return calls == 0 ? 0 : request_bytes / calls;
  }
};

/// Figures of one or more leagues, measured from their conversation logs.
struct LeagueTraffic {
  CallerTraffic manager;
  CallerTraffic referee;
  std::uint64_t matches = 0;
  double seconds = 0;  ///< from the first announcement to the last answer, of all leagues together
  std::uint64_t log_bytes = 0;  ///< of the logs of all agents, uncompressed
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
  [[nodiscard]] double log_bytes_per_match() const {
    return matches > 0 ? static_cast<double>(log_bytes) / static_cast<double>(matches) : 0;
  }
};

/// Adds up the traffic of leagues that were played one after the other. Not thread-safe.
class TrafficReader {
 public:
  /// Reads the logs of the manager and the referees below `logs`; the players' logs contain the
  /// same calls again. Fails as audit::log::read_log.
  [[nodiscard]] core::Result<void> add_league(const std::filesystem::path& logs);
  /// The time that the leagues have taken so far.
  [[nodiscard]] double seconds() const { return sum_.seconds; }
  /// The figures of all leagues that were added.
  [[nodiscard]] LeagueTraffic traffic() const;

 private:
  struct League;
  void add_entry(League& league, const audit::log::LogEntry& entry);

  LeagueTraffic sum_;  ///< without percentiles
  std::vector<std::int64_t> manager_calls_;  ///< how long each took, in microseconds
  std::vector<std::int64_t> referee_calls_;
  std::vector<std::int64_t> matches_;
};

/// The value below which `share` (0 … 1) of `values` lie; 0 if there are none.
[[nodiscard]] std::int64_t percentile(std::vector<std::int64_t> values, double share);

}  // namespace league::tools::bench
