#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace league::core {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  ///< U+FEFF in UTF-8

/// How many bytes of a peer's value an error text shows.
inline constexpr std::size_t kShownLength = 40;

/// Text from a peer in a form that is safe for terminals, logs and pages: UTF-8 is kept; control,
/// format and line characters, and bytes that are not UTF-8, become `?`.
[[nodiscard]] std::string safe_text(std::string_view text);
/// The same, cut between characters after `longest` bytes (shown by `...`).
std::string shown(std::string_view text, std::size_t longest = kShownLength);

/// How many bytes of a request an answer repeats at most.
inline constexpr std::size_t kMostEchoed = 200;

/// `text` for an error text: if it is longer than `most` bytes, its beginning, cut between
/// characters, and `...`.
std::string excerpt(std::string_view text, std::size_t most = kShownLength);

/// `text` with A-Z in lower case; other bytes stay as they are, whatever the locale.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);  ///< likewise
/// Whether the two are equal except for the case of ASCII letters.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

/// `text` without the characters of `blanks` at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");
/// Whether `c` is an ASCII letter or digit, whatever the locale.
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// `text` with every `what` in it replaced by `with`; unchanged if `what` is empty.
[[nodiscard]] std::string replaced(std::string text, std::string_view what, std::string_view with);
/// Appends a whole number in decimal.
template <std::integral Number>
void append_number(std::string& out, Number number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}
/// Whether `c` is the second to fourth byte of a character in UTF-8: these begin with the bits 10.
constexpr bool is_utf8_tail(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
/// The longest part of at most `limit` bytes from the start that does not cut a character of UTF-8
/// in two.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t limit);
/// The number of characters of a text in UTF-8.
constexpr std::size_t count_characters(std::string_view utf8) {
  std::size_t count = 0;
  for (char c : utf8) count += is_utf8_tail(c) ? 0 : 1;
  return count;
}
/// `text` for HTML and XML, also in attributes: &, <, >, " and ' are escaped.
[[nodiscard]] std::string escape_markup(std::string_view text);

}  // namespace league::core
