#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/audit/record/log_chain.h"
#include "common/core/result.h"

namespace league::audit::log {

/// An open file that only grows. Not thread-safe.
class LogFile {
 public:
  virtual ~LogFile() = default;
  /// Writes the beginning of `bytes` and returns its length (more than 0), or why nothing could be
  /// written.
  [[nodiscard]] virtual core::Result<std::size_t> write(std::string_view bytes) = 0;
  /// Waits until all written bytes are on the disk.
  [[nodiscard]] virtual core::Result<void> sync() = 0;
};

/// The file system operations that the log needs; tests substitute a full disk. Thread-safe.
class LogFiles {
 public:
  virtual ~LogFiles() = default;
  /// Creates a file (mode 0640) and its directories. Fails if it exists.
  [[nodiscard]] virtual core::Result<std::unique_ptr<LogFile>> create(
      const std::filesystem::path& path) = 0;
  /// Replaces whatever is at `path` with a file that has this content (mode 0640): after a crash
  /// `path` is the old file or the new one, after a loss of power perhaps an older or a damaged
  /// one. A reader that has opened the file sees consistent content until the second replacement
  /// begins. A spare file, `path`.new, stays beside it. One thread at a time for each path.
  [[nodiscard]] virtual core::Result<void> replace(const std::filesystem::path& path,
                                                   std::string_view content) = 0;
  /// Removes the spare file of `replace`: no replacement will follow.
  virtual void end_replacing(const std::filesystem::path& /*path*/) {}
  /// Free bytes for this user where `path` is or will be.
  [[nodiscard]] virtual std::uint64_t free_space(const std::filesystem::path& path) const = 0;
};

/// Whether a process, this one or another, has created the file at `path` with disk_files() and is
/// still writing it.
[[nodiscard]] bool is_being_written(const std::filesystem::path& path);

/// The machine's disk. Immutable, so it may be shared.
[[nodiscard]] std::shared_ptr<LogFiles> disk_files();

/// `name` holds only letters, digits, `_` and `-`, and at most 128 of them: safe as a part of a
/// path.
[[nodiscard]] bool is_safe_name(std::string_view name);

/// Where an agent logs below `logs`: `agents/P01.log.jsonl`. Fails with kInvalidFieldValue if `id`
/// is no safe name.
[[nodiscard]] core::Result<std::filesystem::path> agent_log_path(const std::filesystem::path& logs,
                                                                 std::string_view id);
/// Where the manager logs below `logs`: `league/<league_id>/league.log.jsonl`. Fails as
/// agent_log_path.
[[nodiscard]] core::Result<std::filesystem::path> league_log_path(const std::filesystem::path& logs,
                                                                  std::string_view league_id);

/// The name of the closed segment `number` of the log at `path`: `P01.log.000001.jsonl` beside
/// `P01.log.jsonl`.
[[nodiscard]] std::filesystem::path segment_path(const std::filesystem::path& path, int number);
/// The highest number of a closed segment of the log at `path`, compressed or not; 0 if there is
/// none.
[[nodiscard]] int last_segment(const std::filesystem::path& path);
/// The file beside the log at `path` that holds its newest seal: `P01.seal.json` beside
/// `P01.log.jsonl`.
[[nodiscard]] std::filesystem::path seal_path(const std::filesystem::path& path);
/// The end of the file at `path`, or of the compressed one in its place: the number of its last
/// record and the hash of its last whole line. A torn last line does not count. Nothing if there is
/// no whole line.
[[nodiscard]] std::optional<record::LogHead> log_end(const std::filesystem::path& path);

}  // namespace league::audit::log
