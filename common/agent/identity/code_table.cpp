#include "common/agent/identity/code_table.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "common/core/csv.h"
#include "common/core/private_file.h"
#include "common/core/text.h"
#include "common/core/utf8.h"
#include "common/envelope/display_name.h"

namespace league::agent::identity {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

constexpr std::size_t kShortestCode = 8;
constexpr std::size_t kLongestCode = 256;  // of the field in the message
constexpr std::size_t kLongestFile = std::size_t{8} * 1024 * 1024;

Error fault(const std::string& why) { return {ErrorCode::kInvalidFieldValue, why, ""}; }

Error with_prefix(const std::string& prefix, const Error& error) {
  return {error.code, prefix + ": " + error.message, error.field};
}

std::string line_text(int line) { return "line " + std::to_string(line); }

/// A name of the table as it is stored; `column` says which in errors.
Result<std::string> admit_name(const char* column, std::string_view text) {
  auto admitted = envelope::admit_display_name(text);
  return admitted ? std::move(admitted)
                  : fault(std::string(column) + " " + admitted.error().message);
}

Result<void> check_code(std::string_view code) {
  if (code.empty()) return {};
  if (code.size() < kShortestCode || code.size() > kLongestCode) {
    return fault("the code has " + std::to_string(code.size()) +
                 " characters: use 8 to 256 random characters");
  }
  const bool is_usable = std::ranges::all_of(
      code, [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (is_usable) return {};
  return fault(
      "the code has a character that is not allowed: use printable ASCII without spaces, quotes "
      "and backslashes");
}

}  // namespace

Result<CodeRow> CodeTable::read_row(const CourseList::Row& from) const {
  const auto text_in = [&](std::optional<std::size_t> at) {
    return at ? from.fields[*at] : std::string();
  };
  CodeRow row{core::AuthToken(text_in(list_.code)), from.name, text_in(list_.team)};
  if (row.name.empty()) return fault("there is no name");
  auto name = admit_name("the name", row.name);
  if (!name) return name.error();
  row.name = std::move(*name);
  if (!row.team.empty()) {
    auto team = admit_name("the team", row.team);
    if (!team) return team.error();
    row.team = std::move(*team);
  }
  if (auto fits = check_code(row.code.reveal()); !fits) return fits.error();
  return row;
}

Result<CodeTable> CodeTable::parse_columns(std::string_view text, bool needs_codes) {
  auto list = parse_course_list(text, !needs_codes);
  if (!list) return list.error();
  CodeTable table;
  table.list_ = std::move(*list);
  if (needs_codes && !table.list_.code)
    return fault(
        "line 1: there is no column \"code\": the first line names the columns, such as "
        "code,name,team,email");
  if (!table.list_.code) table.list_.add_code_column();
  std::map<std::string, int> names;  // each name and the lines on which it occurs
  std::map<std::string, int> codes;
  for (const CourseList::Row& record : table.list_.rows) {
    auto row = table.read_row(record);
    if (!row) return with_prefix(line_text(record.line), row.error());
    const auto name = names.emplace(envelope::comparable_name(row->name), record.line);
    if (!name.second) {
      return fault(line_text(record.line) + ": \"" + core::excerpt(row->name) +
                   "\" is also the name in line " + std::to_string(name.first->second) +
                   "; upper and lower case do not count");
    }
    const auto code = codes.emplace(row->code.reveal(), record.line);
    if (!code.second && !row->code.empty()) {
      return fault(line_text(record.line) + ": the code is also in line " +
                   std::to_string(code.first->second) + ": give each player its own");
    }
    table.rows_.push_back(std::move(*row));
  }
  return table;
}

Result<CodeTable> CodeTable::parse(std::string_view text) { return parse_columns(text, true); }

Result<CodeTable> CodeTable::read(const std::filesystem::path& file) {
  auto content = core::read_private_file(file, kLongestFile);
  if (!content) return content.error();
  if (!*content) return fault(file.string() + ": there is no such file");
  auto table = parse_columns(**content, true);
  return table ? std::move(table) : with_prefix(file.string(), table.error());
}

Result<CodeTable> CodeTable::read_names(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) return fault(file.string() + ": cannot be read");
  auto table = parse_columns(content.str(), false);
  return table ? std::move(table) : with_prefix(file.string(), table.error());
}

std::optional<std::size_t> CodeTable::find_name(std::string_view name) const {
  const std::string wanted = envelope::comparable_name(name);
  const auto found = std::ranges::find_if(
      rows_, [&](const CodeRow& row) { return envelope::comparable_name(row.name) == wanted; });
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows_.begin());
}

void CodeTable::set_code(std::size_t row, core::AuthToken code) {
  list_.rows[row].fields[*list_.code] = code.reveal();
  rows_[row].code = std::move(code);
}

void CodeTable::add_missing(const CodeTable& other) {
  const std::size_t columns = list_.header.size();
  for (std::size_t i = 0; i < other.rows_.size(); ++i) {
    if (find_name(other.rows_[i].name)) continue;
    const auto& theirs = other.list_.rows[i].fields;
    CourseList::Row record{0, std::vector<std::string>(columns), other.rows_[i].name};
    // By meaning where a column has one, else by its heading.
    const auto copy = [&](std::optional<std::size_t> to, std::optional<std::size_t> from) {
      if (to && from) record.fields[*to] = theirs[*from];
    };
    for (const std::size_t to : list_.other_columns()) {
      for (const std::size_t from : other.list_.other_columns())
        if (core::equals_ignoring_case(list_.header[to], other.list_.header[from])) copy(to, from);
    }
    copy(list_.code, other.list_.code);
    copy(list_.team, other.list_.team);
    copy(list_.email, other.list_.email);
    if (list_.name_columns.size() == other.list_.name_columns.size()) {
      for (std::size_t n = 0; n < list_.name_columns.size(); ++n)
        copy(list_.name_columns[n], other.list_.name_columns[n]);
    } else {
      record.fields[list_.name_columns.front()] = other.rows_[i].name;
    }
    auto row = read_row(record);
    if (!row) continue;  // cannot happen: the row was read before
    list_.rows.push_back(std::move(record));
    rows_.push_back(std::move(*row));
  }
}

std::vector<std::string> CodeTable::unknown_columns() const {
  std::vector<std::string> names;
  for (const std::size_t column : list_.other_columns())
    if (!list_.header[column].empty()) names.push_back(list_.header[column]);
  return names;
}

std::string CodeTable::text() const {
  std::string out = core::csv_line(list_.header, list_.separator);
  for (const CourseList::Row& row : list_.rows) out += core::csv_line(row.fields, list_.separator);
  return out;
}

std::string comparable_code(std::string_view code) {
  std::string out;
  for (std::size_t at = 0; at < code.size();) {
    const core::CodePoint point = core::code_point_at(code, at);
    const char32_t c = point.value;
    const bool is_dash = c == U'-' || (c >= U'\u2010' && c <= U'\u2015') || c == U'\u2212';
    const bool is_blank = c <= U' ' || c == U'\u00a0' || c == U'\u202f';
    if (!point.is_valid || !(is_dash || is_blank)) out.append(code, at, point.bytes);
    at += point.bytes;
  }
  return core::lower_case(out);
}

}  // namespace league::agent::identity
