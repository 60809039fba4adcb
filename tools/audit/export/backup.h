#pragma once

#include <filesystem>
#include <iosfwd>

namespace league::tools::auditor {

struct BackupOptions {
  std::filesystem::path source = "data";  ///< holds data/, or is a data directory itself
  std::filesystem::path directory;  ///< where the copy is made: missing or empty
  bool json = false;  ///< the summary as one JSON object
};

/// Makes a data directory with which the league of `source` can be continued: its journal as it is
/// at one moment, whether its manager runs or not, and the keys and identities that are stored with
/// it. The copy is complete, or there is none. Returns 0, or 2 if the copy could not be made.
int back_up(const BackupOptions& options, std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
