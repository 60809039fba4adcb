#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/audit/export/export_grades.h"

namespace league::tools::auditor {

struct ExportOptions {
  std::filesystem::path directory;  ///< holds data/ and logs/, or is a data directory
  std::filesystem::path logs;  ///< empty: DIRECTORY/logs
  std::filesystem::path out;  ///< empty: the data directory for json, DIRECTORY/export for others
  std::string format = "json";  ///< `json`, `csv`, `html`, `grades`, `gradescope`
  GradeSources grades = {};  ///< for `grades`
  bool may_overwrite = false;
  bool json = false;  ///< the summary as one JSON object
};

/// Recreates the files of a league from its journal and its logs, and prints their places on `out`.
/// Returns 0, or 2 if they could not be written.
int export_league(const ExportOptions& options, std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
