#pragma once

#include <filesystem>
#include <vector>

#include "tools/audit/export/export_output.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// The published data layout below `out`, as docs/files.md says: what manager, referees and players
/// write. `league` outlives the result.
[[nodiscard]] std::vector<OutputFile> layout_files(ExportedLeague& league,
                                                   const std::filesystem::path& out);

/// Only the manager's files, standings.json and rounds.json.
[[nodiscard]] std::vector<OutputFile> manager_files(const league_manager::LeagueBook& book,
                                                    const std::filesystem::path& out);

}  // namespace league::tools::auditor
