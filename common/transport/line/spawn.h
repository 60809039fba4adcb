#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/socket.h"

namespace league::transport::line {

/// A child that was just started, and our ends of its pipes.
struct SpawnedChild {
  pid_t pid = -1;
  core::FileDescriptor input;  ///< its stdin
  core::FileDescriptor output;  ///< its stdout
  core::FileDescriptor error;  ///< its stderr
};

/// Arguments or an environment in the form that exec takes: terminated by null, valid as long as
/// `texts`.
[[nodiscard]] std::vector<char*> exec_pointers(std::vector<std::string>& texts);

/// Starts a command, which is searched in PATH, in its own process group, with default signals and
/// without our other descriptors. Its environment contains only our PATH, HOME, LANG, LC_ALL,
/// TMPDIR, TZ, USER, SHELL and TERM: an environment may contain keys and tokens. Fails with
/// kConnectionError.
[[nodiscard]] core::Result<SpawnedChild> spawn_command(const std::string& command);

}  // namespace league::transport::line
