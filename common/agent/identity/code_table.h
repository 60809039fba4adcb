#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/result.h"

namespace league::agent::identity {

/// A player whom the operator expects, and the code with which the player registers.
struct CodeRow {
  core::AuthToken code;  ///< empty: no code, so nobody can register for this row
  std::string name;  ///< under which the league shows the player
  std::string team;  ///< may be empty
};

/// The operator's list of players and their registration codes: a CSV file whose first line names
/// the columns. `code` and `name` are read, and `team` if there is one; other columns, such as
/// `email`, are kept in the file but not used. Not thread-safe. Source: protocol §8.
class CodeTable {
 public:
  /// Fails with the line and the rule; the error never contains a code. Rules: each name occurs
  /// once (ignoring case) and has 1 to 50 characters, none of them control characters; a team has
  /// the same form, but may be empty; each code occurs once and has 8 to 256 printable ASCII
  /// characters other than blank, quote and `\`.
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
  /// The table as CSV text.
  [[nodiscard]] std::string text() const;

 private:
  using Fields = std::vector<std::string>;
  [[nodiscard]] static core::Result<CodeTable> parse_columns(std::string_view text,
                                                             bool needs_codes);
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] core::Result<CodeRow> read_row(const Fields& fields) const;

  char separator_ = ',';
  Fields header_;
  std::vector<Fields> records_;  // each with as many fields as the header
  std::vector<CodeRow> rows_;  // what the records say
};

}  // namespace league::agent::identity
