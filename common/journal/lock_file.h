#pragma once

#include <filesystem>

#include "common/core/file_descriptor.h"
#include "common/core/result.h"

namespace league::journal {

/// An exclusive lock that keeps other processes from writing the same files while the object lives;
/// the system releases it when the process ends. The file itself stays and contains the process id
/// of its last owner. Movable; not thread-safe.
class LockFile {
 public:
  /// Fails if another process holds the lock (the message names its process id) or if the file
  /// cannot be created.
  [[nodiscard]] static core::Result<LockFile> acquire(const std::filesystem::path& file);

  /// Child processes that are started from now on hold the lock too; it is free when the last of
  /// them has ended. Fails if the system refuses.
  [[nodiscard]] core::Result<void> share_with_children();

 private:
  explicit LockFile(int descriptor) : descriptor_(descriptor) {}

  core::FileDescriptor descriptor_;
};

}  // namespace league::journal
