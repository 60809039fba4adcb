#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace league::core {

/// How many bytes of a foreign value an error text shows.
inline constexpr std::size_t kShownLength = 40;

/// A stranger's text made fit for a message: printable ASCII, and cut (which `...` shows) after
/// `longest` bytes.
std::string shown(std::string_view text, std::size_t longest = kShownLength);

/// The most that an answer repeats of what it answers, in bytes.
inline constexpr std::size_t kMostEchoed = 200;

/// `text` as an error text shows it: of one longer than `most` bytes the beginning, whole
/// characters, and `...`.
std::string excerpt(std::string_view text, std::size_t most = kShownLength);

/// `text` with A-Z in lower case; other bytes stay as they are, whatever the locale.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);  ///< likewise
/// Whether the two differ in the case of ASCII letters alone.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);

/// Whether `c` is an ASCII letter or digit, whatever the locale.
constexpr bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// `text` for HTML and XML, also in attributes: &, <, >, " and ' are escaped.
[[nodiscard]] std::string escape_markup(std::string_view text);

}  // namespace league::core
