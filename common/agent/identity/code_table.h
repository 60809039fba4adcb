#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/agent/identity/course_list.h"
#include "common/core/auth_token.h"
#include "common/core/result.h"

namespace league::agent::identity {

/// A player whom the operator expects, and the code with which the player registers.
struct CodeRow {
  core::AuthToken code;  ///< empty: no code, so nobody can register for this row
  std::string name;  ///< under which the league shows the player
  std::string team;  ///< may be empty
};

/// The operator's list of players and their registration codes: a CourseList. The columns of the
/// code and the name are read, and that of the team if there is one; others are kept in the file
/// but not used. Not thread-safe. Source: protocol §8.
class CodeTable {
 public:
  /// Fails with the line and the rule; the error never contains a code. Rules: each name occurs
  /// once (envelope::comparable_name) and is admitted by envelope::admit_display_name; a team, too,
  /// but may be empty; each code occurs once and has 8 to 256 printable ASCII characters other than
  /// blank, quote and `\`.
  [[nodiscard]] static core::Result<CodeTable> parse(std::string_view text);
  /// As parse, for a file that only its owner may read; errors name the file.
  [[nodiscard]] static core::Result<CodeTable> read(const std::filesystem::path& file);
  /// As parse, for a list that may not have a column `code` yet, in a file that others may read,
  /// too.
  [[nodiscard]] static core::Result<CodeTable> read_names(const std::filesystem::path& file);

  [[nodiscard]] std::span<const CodeRow> rows() const { return rows_; }
  /// The row of this name, with names compared as the league compares players' names; nothing if
  /// there is none.
  [[nodiscard]] std::optional<std::size_t> find_name(std::string_view name) const;
  /// An empty code removes the row's code.
  void set_code(std::size_t row, core::AuthToken code);
  /// Adds the rows of `other` whose names are missing here, with the values of the columns that
  /// both tables have.
  void add_missing(const CodeTable& other);
  /// The columns that are kept in the file and mean nothing to the league.
  [[nodiscard]] std::vector<std::string> unknown_columns() const;
  /// The table as CSV text.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] static core::Result<CodeTable> parse_columns(std::string_view text,
                                                             bool needs_codes);
  [[nodiscard]] core::Result<CodeRow> read_row(const CourseList::Row& from) const;

  CourseList list_;  // the file as it is
  std::vector<CodeRow> rows_;  // what its rows say
};

/// A code in the form in which codes are compared: people type them in capitals, with blanks or
/// long dashes for the dashes, or without any, and copy line ends with them.
[[nodiscard]] std::string comparable_code(std::string_view code);

}  // namespace league::agent::identity
