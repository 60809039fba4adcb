#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/audit/record/log_chain.h"
#include "common/core/result.h"

namespace league::audit {

/// An open file that only grows. Not thread-safe.
class LogFile {
 public:
  virtual ~LogFile() = default;
  /// Writes a part of `bytes` from the start and says how long it was (more than 0), or why nothing
  /// could be written.
  [[nodiscard]] virtual core::Result<std::size_t> write(std::string_view bytes) = 0;
  /// Waits until what was written is on the disk.
  [[nodiscard]] virtual core::Result<void> sync() = 0;
};

/// What the log needs of a file system; a test gives a disk that is full. Thread-safe.
class LogFiles {
 public:
  virtual ~LogFiles() = default;
  /// A new file (mode 0640); its directories are made. Fails if it exists.
  [[nodiscard]] virtual core::Result<std::unique_ptr<LogFile>> create(
      const std::filesystem::path& path) = 0;
  /// Puts a file with this content (mode 0640) in the place of whatever is at `path`: after a crash
  /// it is the old one or the new one, after a loss of power perhaps one from before, or damaged.
  /// Who reads it has until the replacement after the next. What is kept for the next one stays
  /// beside it, as `path`.new. One thread at a time for each path.
  [[nodiscard]] virtual core::Result<void> replace(const std::filesystem::path& path,
                                                   std::string_view content) = 0;
  /// Removes what `replace` has kept: no other follows.
  virtual void end_replacing(const std::filesystem::path& /*path*/) {}
  /// Bytes that the user may still write where `path` is or will be.
  [[nodiscard]] virtual std::uint64_t free_space(const std::filesystem::path& path) const = 0;
};

/// Whether a process, this one or another, has made the file at `path` with disk_files() and still
/// writes it.
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
/// Where the file at `path`, or the compressed one in its place, ends: the number of its last
/// record and the hash of its last whole line. A torn last line does not count. Nothing if there is
/// no whole line.
[[nodiscard]] std::optional<LogHead> log_end(const std::filesystem::path& path);

}  // namespace league::audit
