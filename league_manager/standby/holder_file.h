#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/socket.h"

namespace league::league_manager::standby {

/// The names under which the managers of one data directory have led, in order. A name that is in
/// the file when it is opened belongs to a process that has ended: its writer kept the file locked,
/// in this boot of this machine, for as long as it lived. A copy of the file proves nothing, here
/// or elsewhere, since it is another file. Movable; not thread-safe.
class HolderFile {
 public:
  /// Keeps the file locked for as long as the object lives, and adds `holder` to it. Fails if
  /// another process has locked it, or if it cannot be created or written.
  [[nodiscard]] static core::Result<HolderFile> open(const std::filesystem::path& file,
                                                     const std::string& holder);

  /// The last few names before `holder`.
  [[nodiscard]] const std::vector<std::string>& former() const { return former_; }

 private:
  HolderFile(core::FileDescriptor file, std::vector<std::string> former)
      : file_(std::move(file)), former_(std::move(former)) {}

  core::FileDescriptor file_;
  std::vector<std::string> former_;
};

}  // namespace league::league_manager::standby
