#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::agent::identity {

/// The table of people that an operator has: what a spreadsheet, Moodle or Canvas writes, or a list
/// of codes. Not thread-safe.
struct CourseList {
  /// A person. `fields` has as many fields as the header.
  struct Row {
    int line = 1;
    std::vector<std::string> fields;
    std::string name;  ///< as it stands in the file; may be empty
  };
  char separator = ',';
  std::vector<std::string> header;
  std::vector<Row> rows;
  std::vector<std::size_t> name_columns;  ///< one, or that of the first name and of the surname
  std::optional<std::size_t> code;
  std::optional<std::size_t> team;
  std::optional<std::size_t> email;

  /// The columns that are none of these.
  [[nodiscard]] std::vector<std::size_t> other_columns() const;
  /// Puts an empty column `code` in front of the others.
  void add_code_column();
};

/// Reads a CSV text (core::parse_csv) whose first line names the columns, without regard to case.
/// The name is in `name` (also `student`, `full name`, `display name`), or in `first name` and
/// `surname` (`last name`); `e-mail`, `mail` and `email address` mean `email`, `group` means
/// `team`. Canvas's line of possible points is left out. Errors name the line; `names_columns` says
/// whether they may repeat what stands in the first line, which in a file of codes could be a code.
[[nodiscard]] core::Result<CourseList> parse_course_list(std::string_view text, bool names_columns);

}  // namespace league::agent::identity
