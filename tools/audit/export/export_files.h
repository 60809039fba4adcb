#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "league_manager/files/league_book.h"
#include "tools/audit/export/export_figures.h"
#include "tools/audit/export/export_output.h"
#include "tools/audit/export/export_source.h"

namespace league::tools::auditor {

/// One record of RFC 4180 with its line end. A cell that a spreadsheet would take for a formula
/// gets an apostrophe in front.
[[nodiscard]] std::string csv_record(const std::vector<std::string>& cells);

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

/// `text` for the content of an element or a quoted attribute; control characters and invalid UTF-8
/// become U+FFFD.
[[nodiscard]] std::string html_text(std::string_view text);

/// A page that `render` makes; it may replace an existing page of the same league.
[[nodiscard]] OutputFile html_file(const std::filesystem::path& path, const std::string& league,
                                   std::function<std::string()> render);

/// A site: `index.html` (standings, plots, cross table, rounds, the operator's acts), a page for
/// each match and one for each player below `out`. The pages load nothing from elsewhere and run no
/// scripts. `league` and `players` outlive the result.
[[nodiscard]] std::vector<OutputFile> html_files(const ExportedLeague& league,
                                                 const std::vector<PlayerFigures>& players,
                                                 const std::filesystem::path& out);

/// `players/PLAYER.html` for each player below `out`: its own results and faults in words, what to
/// do about them, and how fast it answered; to be printed or handed out. `league` and `players`
/// outlive the result.
[[nodiscard]] std::vector<OutputFile> player_pages(const ExportedLeague& league,
                                                   const std::vector<PlayerFigures>& players,
                                                   const std::filesystem::path& out);

}  // namespace league::tools::auditor
