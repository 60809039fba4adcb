#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Characters of texts in UTF-8. The Unicode Character Database comes with utf8proc, which only
/// this file uses.
namespace league::core {

/// A character of a text in UTF-8.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;  ///< 1 also where the text is not UTF-8
  bool is_valid = false;
};
/// The character at byte `at` of `text`, which must be inside it.
[[nodiscard]] CodePoint code_point_at(std::string_view text, std::size_t at);
[[nodiscard]] bool is_utf8(std::string_view text);

/// Neither a control character nor one that only formats text (line and paragraph separators,
/// directions of writing, zero-width joiners): general categories Cc, Cf, Zl and Zp.
[[nodiscard]] bool is_printable(char32_t c);
[[nodiscard]] bool is_letter(char32_t c);
/// Whether the character leaves ink by itself: a letter, a number, punctuation or a symbol.
[[nodiscard]] bool is_visible(char32_t c);
/// How many columns of a terminal it takes: 0, 1 or 2.
[[nodiscard]] std::size_t terminal_columns(char32_t c);

/// Text in UTF-16 that begins with a byte order mark, in UTF-8 and without the mark; what is not
/// UTF-16 becomes U+FFFD.
[[nodiscard]] std::string from_utf16(std::string_view bytes);

/// `text` in Unicode's Normalization Form C; nothing if it is not UTF-8.
[[nodiscard]] std::optional<std::string> to_nfc(std::string_view text);
/// `text` as Unicode's NFKC_Casefold: for comparisons that ignore case, compatibility forms and
/// characters that are never shown. Nothing if it is not UTF-8.
[[nodiscard]] std::optional<std::string> to_nfkc_casefold(std::string_view text);

}  // namespace league::core
