#pragma once

#include <filesystem>
#include <iosfwd>

namespace league::tools {

struct BackupOptions {
  std::filesystem::path source = "data";  ///< holds data/, or is a data directory itself
  std::filesystem::path directory;  ///< where the copy is made: missing or empty
  bool json = false;  ///< the summary as one JSON object
};

/// Makes a data directory with which the league of `source` can be continued: its journal as it is
/// at one moment, whether its manager runs or not, and the keys and identities that stand beside
/// it. The copy is there whole or not at all. 0: it is made, 2: it could not be.
int back_up(const BackupOptions& options, std::ostream& out, std::ostream& err);

}  // namespace league::tools
