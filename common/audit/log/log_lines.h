#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/audit/log/packed_log.h"
#include "common/core/compression.h"
#include "common/core/file_descriptor.h"

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

  /// The next line; `line` is valid until the next call. After anything but kLine there is nothing
  /// more to read.
  [[nodiscard]] Next next(std::string_view& line);

 private:
  LogLines(core::FileDescriptor in, bool is_packed, Limits limits);
  /// Appends the next bytes of the content to `text_`; false at the end, and where it is damaged.
  bool read_more();
  /// Appends the next bytes of the file to `to`; false at its end.
  bool read_into(std::string& to);

  core::FileDescriptor in_;
  Limits limits_;
  std::optional<core::Decompressor> unpacker_;
  std::string packed_;  ///< read, and decompressed up to `packed_at_`
  std::size_t packed_at_ = 0;
  bool has_ended_ = false;  ///< the compressed content
  bool is_end_checked_ = false;
  bool is_damaged_ = false;
  std::string text_;  ///< content that was read
  std::size_t begin_ = 0;  ///< of the next line in it
  std::size_t searched_ = 0;  ///< up to here it has no line feed
};

}  // namespace league::audit::log
