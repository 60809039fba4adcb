#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/audit/export/export_figures.h"
#include "tools/audit/export/export_output.h"

namespace league::tools::auditor {

/// What a course knows about its players besides the league.
struct GradeSources {
  std::filesystem::path names;  ///< a course list; its columns but the name and `code` are copied
  std::vector<std::filesystem::path> checks;  ///< of `league check --format json`; may be empty
};

/// The additional columns of the table of grades, by name or endpoint of a bot.
struct GradeColumns {
  /// A line of the course's list.
  struct Person {
    int line = 0;
    std::string name;
    std::vector<std::string> cells;  ///< as many as there are headings
  };
  std::vector<std::string> headings;
  std::vector<Person> people;
  std::map<std::string, std::size_t> by_name;  ///< the first with a envelope::comparable_name
  std::map<std::string, std::string> levels;  ///< by endpoint

  /// The first line with this name; null if there is none.
  [[nodiscard]] const Person* find(std::string_view name) const;
};

/// Fails if a file cannot be read or has another form.
[[nodiscard]] core::Result<GradeColumns> read_grade_columns(const GradeSources& sources);

/// What does not match between the course's list and the league: people without a bot, bots that
/// are not on the list, and lines whose name occurs before. Nothing without a list.
[[nodiscard]] std::vector<std::string> unmatched(const league_manager::files::LeagueBook& book,
                                                 std::span<const PlayerFigures> players,
                                                 const GradeColumns& columns);

/// `grades.csv` below `out`: a row for each player, in the order of the table, and one with the
/// state ABSENT for each line of the list without a player.
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
