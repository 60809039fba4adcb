#pragma once

#include <filesystem>
#include <string>

#include "common/core/result.h"
#include "common/core/timestamp.h"

namespace league::tools {

/// Where a league keeps what it leaves behind.
struct RunDirectories {
  std::filesystem::path data;
  std::filesystem::path logs;
};

/// `2025-01-15T10-30-00Z`: the instant as a name that every file system takes and that sorts by
/// time.
[[nodiscard]] std::string run_name(core::UtcTimestamp now);

/// Makes `data` and `logs`; where one of them is empty, inside a fresh `ROOT/TIME` (or
/// `ROOT/TIME-2`
/// ... if that is there already). Fails with kInternalError and the directory that cannot be made.
[[nodiscard]] core::Result<RunDirectories> make_run_directories(const std::filesystem::path& root,
                                                                core::UtcTimestamp now,
                                                                RunDirectories wanted);

/// A directory for Unix sockets, whose paths must be short (107 characters): a fresh one for this
/// user alone below TMPDIR or /tmp, removed with what is in it.
class SocketDirectory {
 public:
  /// Fails with kInternalError and the directory that cannot be made.
  [[nodiscard]] static core::Result<SocketDirectory> make();
  /// The same where `is_needed`, else one without a path.
  [[nodiscard]] static core::Result<SocketDirectory> make_if(bool is_needed);
  /// The one at `path`, which an earlier process made and perhaps left; a fresh one where that is
  /// not possible or `path` is empty, since somebody else could have taken the name.
  [[nodiscard]] static core::Result<SocketDirectory> make_again(const std::filesystem::path& path);
  SocketDirectory() = default;
  SocketDirectory(SocketDirectory&& other) noexcept;
  SocketDirectory& operator=(SocketDirectory&& other) noexcept;
  ~SocketDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit SocketDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace league::tools
