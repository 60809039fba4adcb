#include "tools/league/up/table_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "common/core/utf8.h"
#include "common/rpc/json_text.h"

namespace league::tools {
namespace {

/// A number right-aligned.
std::string cell(int value, std::size_t width) {
  std::string text = std::to_string(value);
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

/// A rounded number right-aligned; blank for nothing.
std::string cell(const std::optional<double>& value, std::size_t width, const char* unit = "") {
  std::string text = value ? std::to_string(std::lround(*value)) + unit : "";
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

std::string figure_cells(const TableRow& row) {
  const auto percent = row.p_first ? std::optional(100 * *row.p_first) : std::nullopt;
  return cell(row.rating, 8) + cell(row.rating_error, 6) + cell(percent, 9, " %");
}

constexpr const char* kFigureHeadings = "  rating     ±    first";
constexpr std::size_t kFigureColumns = 23;  // of the figures beside the points
constexpr std::size_t kNumberColumns = 42;  // rank, gaps and all figures
constexpr std::size_t kFewNumberColumns = 24;  // rank, gaps, played and points
constexpr std::size_t kShortestName = 8;

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const core::CodePoint point = core::code_point_at(text, at);
    width += point.is_valid ? core::terminal_columns(point.value) : 1;
    at += point.bytes;
  }
  return width;
}

int fail(std::string_view message, int exit_code) {
  std::string text = "error: ";
  for (std::size_t begin = 0; begin <= message.size();) {
    const auto end = std::min(message.find('\n', begin), message.size());
    text += safe_text(message.substr(begin, end - begin)) + '\n';
    begin = end + 1;
  }
  std::fputs(text.c_str(), stderr);
  return exit_code;
}

int fail(const core::Error& error, int exit_code) { return fail(error.message, exit_code); }

void print_json(const nlohmann::json& value) { std::cout << rpc::to_json_text(value) << std::endl; }

void print_json(const nlohmann::ordered_json& value) {
  std::cout << rpc::ordered_json_text(value) << std::endl;
}

std::string fitted(std::string_view text, std::size_t width) {
  std::size_t whole = display_width(text);
  if (whole <= width) return std::string(text) + std::string(width - whole, ' ');
  if (width == 0) return {};
  std::string cut;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const core::CodePoint point = core::code_point_at(text, at);
    const std::size_t columns = core::terminal_columns(point.value);
    if (used + columns > width - 1) break;
    cut += text.substr(at, point.bytes);
    used += columns;
    at += point.bytes;
  }
  return cut + "~" + std::string(width - 1 - used, ' ');
}

std::vector<std::string> table_lines(const std::vector<TableRow>& rows, std::size_t width,
                                     std::size_t limit, std::size_t total) {
  std::size_t id = 2;
  std::size_t name = 6;
  std::size_t shown = std::min(rows.size(), limit);
  for (std::size_t i = 0; i < shown; ++i) {
    id = std::max(id, display_width(rows[i].player_id));
    name = std::max(name, display_width(safe_text(rows[i].display_name)));
  }
  // On a narrow terminal the columns in the middle are left out.
  bool is_narrow = width < kNumberColumns + id + std::min(name, kShortestName);
  // So are the figures beside the points where names would suffer.
  const bool has_figures =
      std::ranges::any_of(rows, [](const TableRow& row) { return row.rating.has_value(); }) &&
      width >= kNumberColumns + kFigureColumns + id + name;
  std::size_t fixed = (is_narrow ? kFewNumberColumns : kNumberColumns) + id;
  if (has_figures) fixed += kFigureColumns;
  name = std::min(name, width > fixed + kShortestName ? width - fixed : kShortestName);
  auto line = [&](const std::string& rank, std::string_view player_id, std::string_view player,
                  const std::string& figures) {
    return fitted(rank + "  " + fitted(player_id, id) + "  " + fitted(player, name) + figures,
                  std::min(width, fixed + name));
  };
  std::vector<std::string> lines{
      line("rank", "id", "player",
           std::string(is_narrow ? "  played  points" : "  played   won drawn  lost  points") +
               (has_figures ? kFigureHeadings : ""))};
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[i];
    lines.push_back(
        line(cell(row.rank, 4), row.player_id, safe_text(row.display_name),
             cell(row.played, 8) +
                 (is_narrow ? "" : cell(row.wins, 6) + cell(row.draws, 6) + cell(row.losses, 6)) +
                 cell(row.points, 8) + (has_figures ? figure_cells(row) : "")));
  }
  if (total > shown) lines.push_back("      ... and " + std::to_string(total - shown) + " more");
  return lines;
}

std::string progress_bar(int done, int total, std::size_t width) {
  if (width < 3) return std::string(width, ' ');
  std::size_t inner = width - 2;
  std::size_t full = total > 0 ? inner * static_cast<std::size_t>(std::clamp(done, 0, total)) /
                                     static_cast<std::size_t>(total)
                               : 0;
  return "[" + std::string(full, '#') + std::string(inner - full, '.') + "]";
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace league::tools
