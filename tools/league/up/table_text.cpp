#include "tools/league/up/table_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>

#include "common/rpc/json_text.h"

namespace league::tools {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint decode_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + bytes > text.size()) return {};
  char32_t value = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(at + i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[bytes] || value > 0x10FFFF || is_surrogate) return {};
  return {value, bytes, true};
}

bool between(char32_t value, char32_t low, char32_t high) { return value >= low && value <= high; }

bool is_dangerous(char32_t c) {
  return c < 0x20 || between(c, 0x7F, 0x9F) || between(c, 0x200B, 0x200F) ||
         between(c, 0x2028, 0x202E) || between(c, 0x2060, 0x206F) || c == 0xFEFF;
}

std::size_t columns_of(char32_t c) {
  if (between(c, 0x300, 0x36F) || between(c, 0xFE00, 0xFE0F)) return 0;
  bool is_wide =
      between(c, 0x1100, 0x115F) || between(c, 0x2E80, 0xA4CF) || between(c, 0xAC00, 0xD7A3) ||
      between(c, 0xF900, 0xFAFF) || between(c, 0xFE30, 0xFE6F) || between(c, 0xFF00, 0xFF60) ||
      between(c, 0xFFE0, 0xFFE6) || between(c, 0x1F300, 0x1FAFF) || between(c, 0x20000, 0x3FFFD);
  return is_wide ? 2 : 1;
}

/// A number right-aligned.
std::string cell(int value, std::size_t width) {
  std::string text = std::to_string(value);
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

constexpr std::size_t kNumberColumns = 42;  // rank, gaps and all figures
constexpr std::size_t kFewNumberColumns = 24;  // rank, gaps, played and points
constexpr std::size_t kShortestName = 8;

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    CodePoint point = decode_at(text, at);
    width += point.valid ? columns_of(point.value) : 1;
    at += point.bytes;
  }
  return width;
}

std::string safe_text(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    CodePoint point = decode_at(text, at);
    if (point.valid && !is_dangerous(point.value)) {
      safe += text.substr(at, point.bytes);
    } else {
      safe += '?';
    }
    at += point.bytes;
  }
  return safe;
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
    CodePoint point = decode_at(text, at);
    std::size_t columns = columns_of(point.value);
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
  std::size_t fixed = (is_narrow ? kFewNumberColumns : kNumberColumns) + id;
  name = std::min(name, width > fixed + kShortestName ? width - fixed : kShortestName);
  auto line = [&](const std::string& rank, std::string_view player_id, std::string_view player,
                  const std::string& figures) {
    return fitted(rank + "  " + fitted(player_id, id) + "  " + fitted(player, name) + figures,
                  std::min(width, fixed + name));
  };
  std::vector<std::string> lines{
      line("rank", "id", "player",
           is_narrow ? "  played  points" : "  played   won drawn  lost  points")};
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[i];
    lines.push_back(
        line(cell(row.rank, 4), row.player_id, safe_text(row.display_name),
             cell(row.played, 8) +
                 (is_narrow ? "" : cell(row.wins, 6) + cell(row.draws, 6) + cell(row.losses, 6)) +
                 cell(row.points, 8)));
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
