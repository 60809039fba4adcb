#pragma once

#include <filesystem>
#include <string>

#include "common/core/result.h"
#include "common/core/timestamp.h"

namespace league::tools {

/// The directories of a league's files.
struct RunDirectories {
  std::filesystem::path data;
  std::filesystem::path logs;
};

/// `2025-01-15T10-30-00Z`: a time as a name that is valid in every file system and sorts by time.
[[nodiscard]] std::string run_name(core::UtcTimestamp now);

/// Creates `data` and `logs`; one that is empty is created inside a new `ROOT/TIME` (or
/// `ROOT/TIME-2` ... if that exists). Fails with kInternalError and the directory that cannot be
/// created.
[[nodiscard]] core::Result<RunDirectories> make_run_directories(const std::filesystem::path& root,
                                                                core::UtcTimestamp now,
                                                                RunDirectories wanted);

/// A directory for Unix sockets, whose paths must be short (107 characters): a new one below TMPDIR
/// or /tmp, accessible only to this user, removed with its content.
class SocketDirectory {
 public:
  /// Fails with kInternalError and the directory that cannot be made.
  [[nodiscard]] static core::Result<SocketDirectory> make();
  /// The same if `is_needed`, otherwise an object without a path.
  [[nodiscard]] static core::Result<SocketDirectory> make_if(bool is_needed);
  /// The directory at `path`, which an earlier process made and may have left. A new one if `path`
  /// is empty or cannot be used, since somebody else could have taken the name.
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
