#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/audit/log/log_reader.h"

namespace league::audit::log {

/// One message of a conversation, with the record of each side that has one. At least one of them
/// is there.
struct LoggedMessage {
  std::optional<LogEntry> sent;  ///< as the sender logged it
  std::optional<LogEntry> received;  ///< as the receiver logged it, with its verdict

  /// The record of the side that knows more: the receiver.
  [[nodiscard]] const LogEntry& main() const { return received ? *received : *sent; }
  /// When it was sent, or, if unknown, received.
  [[nodiscard]] core::UtcTimestamp time() const { return sent ? sent->time : received->time; }
};

/// Merges the records of several logs into one order: within a log by its monotonic clock, between
/// logs by wall time, and always the sending of a message before its receipt, whatever the clocks
/// say. Both sides' records of one message become one exchange.
[[nodiscard]] std::vector<LoggedMessage> merge_records(std::vector<LogEntry> entries);

/// The result of searching a directory.
struct LogSearch {
  std::vector<LogEntry> entries;
  std::uint64_t records = 0;  ///< read in all
  std::size_t files = 0;  ///< that are conversation logs
  std::vector<std::string> problems;  ///< files and lines that could not be read
};

/// Reads all logs below `directory` and keeps the records that `wanted` accepts.
[[nodiscard]] LogSearch search_logs(const std::filesystem::path& directory,
                                    const std::function<bool(const LogEntry&)>& wanted);

}  // namespace league::audit::log
