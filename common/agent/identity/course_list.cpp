#include "common/agent/identity/course_list.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "common/core/csv.h"
#include "common/core/text.h"

namespace league::agent::identity {
namespace {

core::Error unreadable_list(int line, const std::string& why) {
  return {core::ErrorCode::kInvalidFieldValue, "line " + std::to_string(line) + ": " + why, ""};
}

/// The column with the first of `names` that there is.
std::optional<std::size_t> column_named(const std::vector<std::string>& header,
                                        std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find_if(
        header, [name](const std::string& one) { return core::equals_ignoring_case(one, name); });
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  }
  return std::nullopt;
}

void find_columns(CourseList& list) {
  const auto& header = list.header;
  list.code = column_named(header, {"code"});
  list.team = column_named(header, {"team", "group"});
  list.email = column_named(header, {"email", "e-mail", "mail", "email address", "e-mail address"});
  const auto whole = column_named(
      header, {"name", "student", "full name", "fullname", "display name", "display_name"});
  const auto first = column_named(header, {"first name", "firstname", "given name"});
  const auto last = column_named(header, {"surname", "last name", "lastname", "family name"});
  if (whole) {
    list.name_columns = {*whole};
  } else if (first && last) {
    list.name_columns = {*first, *last};
  }
}

core::Error no_names(const CourseList& list, int line, bool names_columns) {
  std::string why =
      "there is no column \"name\": the first line names the columns, such as code,name,team,email";
  if (names_columns) {
    std::string found;
    for (const std::string& one : list.header)
      found += (found.empty() ? "\"" : ", \"") + core::shown(one) + '"';
    why += "; a name can also be in \"Student\", or in \"First name\" and \"Surname\"; found: " +
           found;
  }
  return unreadable_list(line, why);
}

}  // namespace

std::vector<std::size_t> CourseList::other_columns() const {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::ranges::find(name_columns, i) == name_columns.end() && i != code && i != team &&
        i != email)
      others.push_back(i);
  }
  return others;
}

void CourseList::add_code_column() {
  header.insert(header.begin(), "code");
  for (Row& row : rows) row.fields.insert(row.fields.begin(), "");
  name_columns.clear();
  find_columns(*this);
}

core::Result<CourseList> parse_course_list(std::string_view text, bool names_columns) {
  auto csv = core::parse_csv(text);
  if (!csv) return csv.error();
  if (csv->records.empty()) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "the file is empty: its first line names the columns, code,name,team,email",
                       ""};
  }
  CourseList list;
  list.separator = csv->separator;
  list.header = std::move(csv->records.front().fields);
  while (list.header.size() > 1 && list.header.back().empty()) list.header.pop_back();
  find_columns(list);
  if (list.name_columns.empty()) return no_names(list, csv->records.front().line, names_columns);
  for (core::CsvRecord& record : std::span(csv->records).subspan(1)) {
    auto& fields = record.fields;
    while (fields.size() > list.header.size() && fields.back().empty()) fields.pop_back();
    if (fields.size() > list.header.size()) {
      return unreadable_list(record.line,
                             "there are more fields than the first line names; put a field with a "
                             "separator in it into quotes");
    }
    fields.resize(list.header.size());
    CourseList::Row row{record.line, std::move(fields), {}};
    for (const std::size_t column : list.name_columns) {
      const std::string& part = row.fields[column];
      row.name += (row.name.empty() || part.empty() ? "" : " ") + part;
    }
    if (row.name == "Points Possible") continue;  // Canvas's second line
    list.rows.push_back(std::move(row));
  }
  return list;
}

}  // namespace league::agent::identity
