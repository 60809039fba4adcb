#include "common/core/text.h"

#include <strings.h>

#include <algorithm>
#include <array>

#include "common/core/utf8.h"

namespace league::core {

std::string safe_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.is_valid && is_printable(point.value)) {
      safe.append(text, at, point.bytes);
    } else {
      safe += '?';
    }
    at += point.bytes;
  }
  return safe;
}

std::string shown(std::string_view text, std::size_t longest) {
  return safe_text(excerpt(text, longest));
}

std::string_view utf8_prefix(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  // A character has at most three tails; what has more is not UTF-8 and is cut anywhere.
  for (int tails = 0; tails < 3 && limit > 0 && is_utf8_tail(text[limit]); ++tails) --limit;
  return text.substr(0, limit);
}

std::string excerpt(std::string_view text, std::size_t most) {
  std::string out(utf8_prefix(text, most));
  return out.size() == text.size() ? out : out.append("...");
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  if (what.empty()) return text;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string escape_markup(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::array<std::string_view, 5> kEscaped{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (const char c : text) {
    const std::size_t at = kSpecial.find(c);
    at == std::string_view::npos ? out += c : out += kEscaped[at];
  }
  return out;
}

}  // namespace league::core
