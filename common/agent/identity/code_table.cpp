#include "common/agent/identity/code_table.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <span>
#include <sstream>

#include "common/core/comparable_name.h"
#include "common/core/csv.h"
#include "common/core/private_file.h"
#include "common/core/text.h"
#include "common/schema/parse_json.h"

namespace league::agent::identity {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

constexpr std::size_t kShortestCode = 8;
constexpr std::size_t kLongestCode = 256;  // of the field in the message
constexpr std::size_t kLongestName = 50;  // characters
constexpr std::size_t kLongestFile = std::size_t{8} * 1024 * 1024;

Error fault(const std::string& why) { return {ErrorCode::kInvalidFieldValue, why, ""}; }

Error with_prefix(const std::string& prefix, const Error& error) {
  return {error.code, prefix + ": " + error.message, error.field};
}

std::string line_text(int line) { return "line " + std::to_string(line); }

Result<void> check_shown(const char* column, const std::string& text) {
  if (!schema::is_utf8(text))
    return fault(std::string(column) + " is not UTF-8: save the file as CSV in UTF-8");
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return fault(std::string(column) + " has a control character or a line end");
  const std::size_t length = core::count_characters(text);
  if (length <= kLongestName) return {};
  return fault(std::string(column) + " \"" + core::excerpt(text) + "\" has " +
               std::to_string(length) + " characters: use at most " + std::to_string(kLongestName));
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

std::optional<std::size_t> CodeTable::column(std::string_view name) const {
  const auto found = std::ranges::find_if(
      header_, [name](const std::string& one) { return core::lower_case(one) == name; });
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

Result<CodeRow> CodeTable::read_row(const Fields& fields) const {
  const auto text_in = [&](std::string_view name) {
    const auto at = column(name);
    return at ? fields[*at] : std::string();
  };
  CodeRow row{core::AuthToken(text_in("code")), text_in("name"), text_in("team")};
  if (row.name.empty()) return fault("there is no name");
  if (auto fits = check_shown("the name", row.name); !fits) return fits.error();
  if (auto fits = check_shown("the team", row.team); !fits) return fits.error();
  if (auto fits = check_code(row.code.reveal()); !fits) return fits.error();
  return row;
}

Result<CodeTable> CodeTable::parse_columns(std::string_view text, bool needs_codes) {
  auto csv = core::parse_csv(text);
  if (!csv) return csv.error();
  if (csv->records.empty())
    return fault("the file is empty: its first line names the columns, code,name,team,email");
  CodeTable table;
  table.separator_ = csv->separator;
  table.header_ = std::move(csv->records.front().fields);
  const bool has_codes = table.column("code").has_value();
  if (!table.column("name") || (needs_codes && !has_codes)) {
    return fault(line_text(csv->records.front().line) + ": there is no column \"" +
                 (table.column("name") ? "code" : "name") +
                 "\": the first line names the columns, such as code,name,team,email");
  }
  if (!has_codes) table.header_.insert(table.header_.begin(), "code");
  std::map<std::string, int> names;  // each name and the lines on which it occurs
  std::map<std::string, int> codes;
  for (core::CsvRecord& record : std::span(csv->records).subspan(1)) {
    if (!has_codes) record.fields.insert(record.fields.begin(), "");
    if (record.fields.size() > table.header_.size()) {
      return fault(line_text(record.line) + ": there are more fields than the first line names; " +
                   "put a field with a separator in it into quotes");
    }
    record.fields.resize(table.header_.size());
    auto row = table.read_row(record.fields);
    if (!row) return with_prefix(line_text(record.line), row.error());
    const auto name = names.emplace(core::comparable_name(row->name), record.line);
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
    table.records_.push_back(std::move(record.fields));
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
  const std::string wanted = core::comparable_name(name);
  const auto found = std::ranges::find_if(
      rows_, [&](const CodeRow& row) { return core::comparable_name(row.name) == wanted; });
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows_.begin());
}

void CodeTable::set_code(std::size_t row, core::AuthToken code) {
  records_[row][*column("code")] = code.reveal();
  rows_[row].code = std::move(code);
}

void CodeTable::add_missing(const CodeTable& other) {
  for (std::size_t i = 0; i < other.rows_.size(); ++i) {
    if (find_name(other.rows_[i].name)) continue;
    Fields fields;
    for (const std::string& name : header_) {
      const auto at = other.column(core::lower_case(name));
      fields.push_back(at ? other.records_[i][*at] : std::string());
    }
    auto row = read_row(fields);
    if (!row) continue;  // cannot happen: the row was read before
    records_.push_back(std::move(fields));
    rows_.push_back(std::move(*row));
  }
}

std::string CodeTable::text() const {
  std::string out = core::csv_line(header_, separator_);
  for (const Fields& fields : records_) out += core::csv_line(fields, separator_);
  return out;
}

}  // namespace league::agent::identity
