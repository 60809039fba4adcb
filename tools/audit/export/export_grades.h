#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/audit/export/export_figures.h"
#include "tools/audit/export/export_output.h"

namespace league::tools::auditor {

/// What a course knows about its players besides the league.
struct GradeSources {
  std::filesystem::path
      names;  ///< CSV with a column `name`; its other columns but `code` are copied
  std::vector<std::filesystem::path> checks;  ///< of `league check --format json`; may be empty
};

/// The additional columns of the table of grades, by name or endpoint of a bot.
struct GradeColumns {
  std::vector<std::string> headings;
  std::map<std::string, std::vector<std::string>> by_name;  ///< core::comparable_name
  std::map<std::string, std::string> levels;  ///< by endpoint
};

/// Fails if a file cannot be read or has another form.
[[nodiscard]] core::Result<GradeColumns> read_grade_columns(const GradeSources& sources);

/// `grades.csv` below `out`: a row for each player, in the order of the table.
[[nodiscard]] std::vector<OutputFile> grades_files(const league_manager::files::LeagueBook& book,
                                                   std::span<const PlayerFigures> players,
                                                   const GradeColumns& columns,
                                                   const std::filesystem::path& out);

/// `PLAYER.json` for each player below `out`, in the format of a Gradescope autograder's results: a
/// test for each match, with its points out of 3.
[[nodiscard]] std::vector<OutputFile> gradescope_files(
    const league_manager::files::LeagueBook& book, std::span<const PlayerFigures> players,
    const std::filesystem::path& out);

/// A match in a sentence, as the player sees it: the opponent, and the draw, or what went wrong and
/// what to do about it.
[[nodiscard]] std::string match_in_words(const league_manager::files::LeagueBook& book,
                                         const OwnMatch& match);

}  // namespace league::tools::auditor
