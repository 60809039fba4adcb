#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "league_manager/files/league_book.h"
#include "league_manager/view/match_timelines.h"
#include "tools/audit/export/export_figures.h"
#include "tools/audit/export/export_output.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// One record of RFC 4180 with its line end. A cell that a spreadsheet would take for a formula
/// gets an apostrophe in front.
[[nodiscard]] std::string csv_record(const std::vector<std::string>& cells);

/// `value` for a cell, with that many digits after the point; empty for nothing.
[[nodiscard]] std::string decimal(const std::optional<double>& value, int digits);

/// A CSV file that begins with a byte order mark, because Excel takes it for a national code page
/// without one. It may replace a file that begins with `head`.
[[nodiscard]] OutputFile csv_file(const std::filesystem::path& path, std::string text,
                                  const std::string& head);

/// `standings.csv` and `matches.csv` below `out`.
[[nodiscard]] std::vector<OutputFile> csv_files(const league_manager::files::LeagueBook& book,
                                                const std::filesystem::path& out);

/// The published data layout below `out`, as docs/files.md says: what manager, referees and players
/// write. `league` outlives the result.
[[nodiscard]] std::vector<OutputFile> layout_files(ExportedLeague& league,
                                                   const std::filesystem::path& out);

/// Only the manager's files, standings.json and rounds.json.
[[nodiscard]] std::vector<OutputFile> manager_files(const league_manager::files::LeagueBook& book,
                                                    const std::filesystem::path& out);

/// A site below `out`: the live page with a snapshot of the league as its data, to be opened from a
/// disk or served by any web server; without JavaScript it shows a table. The arguments outlive the
/// result.
[[nodiscard]] std::vector<OutputFile> site_files(
    const ExportedLeague& league, const std::vector<PlayerFigures>& players,
    const league_manager::view::MatchTimelines& timelines, const std::filesystem::path& out);

}  // namespace league::tools::auditor
