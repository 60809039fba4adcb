#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "league_manager/files/league_book.h"

namespace league::league_manager::files {

/// The manager's files of the published data layout; docs/files.md says what is in them.

/// Takes the next part of a file.
using FileSink = std::function<core::Result<void>(std::string_view)>;

inline constexpr std::string_view kFilesVersion = "1.0.0";

/// `DATA/leagues/LEAGUE/standings.json`; `league_id` must be safe as a name.
[[nodiscard]] std::filesystem::path standings_file(const std::filesystem::path& data,
                                                   const core::LeagueId& league_id);
/// `DATA/leagues/LEAGUE/rounds.json`.
[[nodiscard]] std::filesystem::path rounds_file(const std::filesystem::path& data,
                                                const core::LeagueId& league_id);

/// The table. Ends with the first error of `sink`; `book` must be open.
[[nodiscard]] core::Result<void> write_standings(const LeagueBook& book, const FileSink& sink);
/// All rounds that have been started, with their matches.
[[nodiscard]] core::Result<void> write_rounds(const LeagueBook& book, const FileSink& sink);

/// `WIN`, `DRAW`, `TECHNICAL_LOSS`, as in the report.
[[nodiscard]] std::string_view result_status(const events::CompactResult& result);
/// `PENDING`, `IN_PROGRESS`, `COMPLETED`.
[[nodiscard]] std::string_view match_status(MatchStatus status);
/// The fairness that is shown of a match: that of the accepted report, but at most `claimed` while
/// a player disputes it. Nothing for a match without a report. Source: protocol §7.
[[nodiscard]] std::optional<game::Fairness> shown_fairness(const League& league,
                                                           const MatchView& view);
/// The index of the winner; -1 for none.
[[nodiscard]] int winner_of(const Pairing& pairing, const events::CompactResult& result);

}  // namespace league::league_manager::files
