#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bus/commands/bus_config.h"
#include "common/core/result.h"

namespace league::tools {

/// The files that `write_bus_config` has written.
struct BusConfigFiles {
  std::vector<std::filesystem::path> brokers;  ///< one for each broker of the configuration
  std::filesystem::path users;
  std::filesystem::path credentials;  ///< the directory of NAME.json
};

/// Writes the configuration into `directory`, all files with mode 0600 in directories of mode 0700.
/// Refuses a directory that is not empty (kInternalError, as for write errors), unless
/// `may_overwrite`; then the files of another configuration are removed first.
[[nodiscard]] core::Result<BusConfigFiles> write_bus_config(const std::filesystem::path& directory,
                                                            const BusConfig& config,
                                                            bool may_overwrite);

}  // namespace league::tools
