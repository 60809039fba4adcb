#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace league::audit::log {

/// Looks in one log, line by line, for records that were not sealed in time although their program
/// went on writing: somebody has removed seals. Whoever seals late says so with the note
/// `seal_delayed`. Not thread-safe. Source: docs/audit.md, `seal.absent`.
class SealWatch {
 public:
  /// A header, with the interval that it names; a run is what one process wrote.
  void on_header(std::optional<std::uint64_t> interval_ms, bool begins_run);
  /// A seal, or a place where one may have been: a line or a file that cannot be read.
  void on_seal();
  /// The note `seal_delayed`.
  void on_delay(std::int64_t from_ns, std::int64_t to_ns);
  /// The record `seq`. Returns the text of the finding if it is the first one since the last seal
  /// that comes too late.
  [[nodiscard]] std::optional<std::string> on_record(std::uint64_t seq, std::string_view line);

 private:
  /// Of headers that name none.
  static constexpr std::int64_t kDefaultIntervalMs = 5000;
  /// A header that claims more would excuse a log without seals.
  static constexpr std::int64_t kLongestIntervalMs = 60'000;

  struct First {
    std::uint64_t seq = 0;
    std::int64_t mono_ns = 0;
  };

  std::int64_t interval_ms_ = kDefaultIntervalMs;
  std::optional<First> first_;  ///< the earliest record since the last seal
  std::vector<std::pair<std::int64_t, std::int64_t>> delays_;  ///< since the last seal
  bool is_reported_ = false;
};

}  // namespace league::audit::log
