#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/socket.h"

namespace league::transport {

/// A child that was just started, and our ends of its pipes.
struct SpawnedChild {
  pid_t pid = -1;
  FileDescriptor input;  ///< its stdin
  FileDescriptor output;  ///< its stdout
  FileDescriptor error;  ///< its stderr
};

/// Arguments or an environment as exec takes them: ending with null, valid as long as `texts`.
[[nodiscard]] std::vector<char*> exec_pointers(std::vector<std::string>& texts);

/// Starts a command, looked for in PATH, in a process group of its own, with default signals, none
/// of our other descriptors, and of our environment only PATH, HOME, LANG, LC_ALL, TMPDIR, TZ,
/// USER, SHELL, TERM and `pass_environment`. Fails with kConnectionError.
[[nodiscard]] core::Result<SpawnedChild> spawn_command(
    const std::string& command, const std::vector<std::string>& pass_environment);

}  // namespace league::transport
