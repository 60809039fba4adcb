#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "league_manager/files/league_book.h"
#include "tools/audit/export/export_output.h"

namespace league::tools::auditor {

/// One record of RFC 4180 with its line end. A cell that a spreadsheet would take for a formula
/// gets an apostrophe in front.
[[nodiscard]] std::string csv_record(const std::vector<std::string>& cells);

/// `standings.csv` and `matches.csv` below `out`.
[[nodiscard]] std::vector<OutputFile> csv_files(const league_manager::LeagueBook& book,
                                                const std::filesystem::path& out);

}  // namespace league::tools::auditor
