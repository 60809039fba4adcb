#pragma once

#include <filesystem>
#include <vector>

#include "tools/audit/export/export_figures.h"
#include "tools/audit/export/export_output.h"

namespace league::tools::auditor {

/// `players/PLAYER.html` for each player below `out`: its own results and faults in words, what to
/// do about them, and how fast it answered; to be printed or handed out. `league` and `players`
/// outlive the result.
[[nodiscard]] std::vector<OutputFile> player_pages(const ExportedLeague& league,
                                                   const std::vector<PlayerFigures>& players,
                                                   const std::filesystem::path& out);

}  // namespace league::tools::auditor
