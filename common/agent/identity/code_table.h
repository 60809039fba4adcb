#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/auth_token.h"
#include "common/core/result.h"

namespace league::agent {

/// Whom an operator expects, and with which code they register.
struct CodeRow {
  core::AuthToken code;  ///< empty: none, so that nobody can register for this row
  std::string name;  ///< under which the league shows the player
  std::string team;  ///< may be empty
};

/// The operator's list of players and their registration codes: a CSV file whose first line names
/// the columns, of which `code` and `name` are read, and `team` if there is one. Others, such as
/// `email`, are kept in the file and read by nobody. Not thread-safe. Source: protocol §8.
class CodeTable {
 public:
  /// Fails with the line and the rule, and never with a code: a name is there once (without regard
  /// to case), has 1 to 50 characters and no control characters; so has a team, which may be empty;
  /// a code is there once and has 8 to 256 printable ASCII characters, no blank, quote or `\`.
  [[nodiscard]] static core::Result<CodeTable> parse(std::string_view text);
  /// The same of a file that only its owner may read; errors name it.
  [[nodiscard]] static core::Result<CodeTable> read(const std::filesystem::path& file);
  /// The same of a list that perhaps has no column `code` yet, in a file that others may read, too.
  [[nodiscard]] static core::Result<CodeTable> read_names(const std::filesystem::path& file);

  [[nodiscard]] std::span<const CodeRow> rows() const { return rows_; }
  /// The row of this name, compared as the league compares names of players; nothing for none.
  [[nodiscard]] std::optional<std::size_t> find_name(std::string_view name) const;
  /// Empty: takes the row's code away.
  void set_code(std::size_t row, core::AuthToken code);
  /// Adds the rows of `other` whose names are not here, with what it has in columns of ours.
  void add_missing(const CodeTable& other);
  /// The file's text.
  [[nodiscard]] std::string text() const;

 private:
  using Fields = std::vector<std::string>;
  [[nodiscard]] static core::Result<CodeTable> parse_columns(std::string_view text,
                                                             bool needs_codes);
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] core::Result<CodeRow> read_row(const Fields& fields) const;

  char separator_ = ',';
  Fields header_;
  std::vector<Fields> records_;  // as many fields each as the header has
  std::vector<CodeRow> rows_;  // what the records say
};

}  // namespace league::agent
