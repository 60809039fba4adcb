#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/core/file_descriptor.h"
#include "common/core/result.h"

namespace league::core {

enum class Flush { kNow, kLater };

/// A file that replaces another one when it is complete: a reader sees the old or the new content,
/// never a part of it, even after a crash. Without `commit` the old file is unchanged and the draft
/// is removed. If the process is killed, the draft (`FILE` + suffix) remains; the next writer with
/// the same suffix removes it. Movable; not thread-safe.
class DraftFile {
 public:
  struct Options {
    /// Of the draft's name. Several writers may create and discard the same draft at a time, as a
    /// probe of a directory does; if one of them commits, its suffix must be its own.
    std::string suffix = ".new";
    unsigned mode = 0644;  ///< reduced by the process's umask
  };

  /// Begins a draft; the directory must exist. Errors name `file`.
  [[nodiscard]] static Result<DraftFile> create(std::filesystem::path file, const Options& options);
  [[nodiscard]] static Result<DraftFile> create(std::filesystem::path file) {
    return create(std::move(file), Options());
  }
  DraftFile(DraftFile&& other) noexcept;
  DraftFile& operator=(DraftFile&& other) noexcept;
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  ~DraftFile();

  /// Appends to the draft. After a failure the draft must not be used any more.
  [[nodiscard]] Result<void> write(std::string_view content);
  /// Removes the draft and leaves the file unchanged; a later `commit` does nothing.
  void discard();
  /// Puts the draft in the file's place. With kNow it is on the disk when this returns; with kLater
  /// it survives the process, but after a loss of power the file may be empty.
  [[nodiscard]] Result<void> commit(Flush flush);

 private:
  DraftFile(std::filesystem::path file, std::filesystem::path draft, int descriptor);
  [[nodiscard]] Error error_of(int number) const;

  std::filesystem::path file_;
  std::filesystem::path draft_;  // empty if there is no draft any more
  FileDescriptor descriptor_;
};

/// Makes a change of names in `directory` (a new file, a rename) survive a loss of power.
[[nodiscard]] Result<void> flush_directory(const std::filesystem::path& directory);

}  // namespace league::core
