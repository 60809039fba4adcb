#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "common/audit/log/packed_log.h"

namespace league::audit::log {

/// Reads a log file, plain or compressed, line by line. Memory use is bounded by the longest line
/// that is allowed, not by the file. Not thread-safe.
class LogLines {
 public:
  struct Limits {
    /// In bytes. No line of ours is nearly as long: bodies are cut at 64 KiB.
    std::size_t line = std::size_t{16} << 20;
    std::size_t content = kLongestPacked;  ///< of a compressed file
  };
  enum class Next {
    kLine,  ///< without its line feed
    kPart,  ///< the end of the file, without a line feed; not empty
    kEnd,
    kTooLong,  ///< the line exceeds its limit
    kDamaged,  ///< the file cannot be read on, or exceeds its limit
  };

  /// Opens the file at `path`, or the compressed one in its place. Null if it cannot be read, or if
  /// it is compressed and is not one whole gzip member within the limits, which is checked first:
  /// nobody sees a part of a damaged file.
  [[nodiscard]] static std::unique_ptr<LogLines> open(const std::filesystem::path& path,
                                                      Limits limits);
  [[nodiscard]] static std::unique_ptr<LogLines> open(const std::filesystem::path& path) {
    return open(path, Limits{});
  }
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  /// The next line; `line` is valid until the next call. After anything but kLine there is nothing
  /// more to read.
  [[nodiscard]] Next next(std::string_view& line);

 private:
  struct State;
  explicit LogLines(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace league::audit::log
