#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::core {

enum class Flush { kNow, kLater };

/// A file that takes the place of another one as soon as it is whole: a reader sees the old content
/// or the new one, never half of it, also after a crash. Without `commit` the old file stays as it
/// is and no trace is left, unless the process is killed: then the draft (`FILE` + suffix) stays,
/// and the next writer with that suffix removes it. Movable; not thread-safe.
class DraftFile {
 public:
  struct Options {
    std::string suffix = ".new";  ///< of the draft's name; no two writers at a time have the same
    unsigned mode = 0644;  ///< less what the process's umask takes away
  };

  /// Begins a draft; the directory must exist. Errors name `file`.
  [[nodiscard]] static Result<DraftFile> create(std::filesystem::path file, Options options);
  [[nodiscard]] static Result<DraftFile> create(std::filesystem::path file) {
    return create(std::move(file), Options());
  }
  DraftFile(DraftFile&& other) noexcept;
  DraftFile& operator=(DraftFile&& other) noexcept;
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  ~DraftFile();

  /// Adds to the draft. After a failure the draft is of no use.
  [[nodiscard]] Result<void> write(std::string_view content);
  /// The file is to stay as it is after all: `commit` will change nothing.
  void discard();
  /// Puts the draft in the file's place. With kNow it is on the disk when this returns; with kLater
  /// it survives the process, but after a loss of power the file may be empty.
  [[nodiscard]] Result<void> commit(Flush flush);

 private:
  DraftFile(std::filesystem::path file, std::filesystem::path draft, int descriptor);
  [[nodiscard]] Error error_of(int number) const;
  void close();

  std::filesystem::path file_;
  std::filesystem::path draft_;  // empty when there is none any more
  int descriptor_ = -1;
};

/// Makes a change of names in `directory` (a new file, a rename) survive a loss of power.
[[nodiscard]] Result<void> flush_directory(const std::filesystem::path& directory);

}  // namespace league::core
