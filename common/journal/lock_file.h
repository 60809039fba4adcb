#pragma once

#include <filesystem>

#include "common/core/result.h"

namespace league::journal {

/// Keeps a second process from writing what this one writes, as long as the object lives; the
/// system lets go of it whenever the process ends. The file stays and holds the process id of its
/// last owner. Movable; not thread-safe.
class LockFile {
 public:
  /// Fails when another process has it (the message names its process id) or the file cannot be
  /// made.
  [[nodiscard]] static core::Result<LockFile> acquire(const std::filesystem::path& file);
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  /// Programs that this process starts from now on hold it, too: it is free when the last of them
  /// has ended. Fails where the system refuses.
  [[nodiscard]] core::Result<void> share_with_children();

 private:
  explicit LockFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace league::journal
