#include "common/envelope/display_name.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "common/core/text.h"
#include "common/core/utf8.h"

namespace league::envelope {
namespace {

using core::code_point_at;
using core::CodePoint;
using core::Error;
using core::excerpt;
using core::Result;
using core::safe_text;

Error refusal(std::string why) { return {core::ErrorCode::kInvalidFieldValue, std::move(why), ""}; }

constexpr bool is_between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

// Unicode's blocks: enough for letters, which are all that is_mixed asks about.
constexpr bool is_latin(char32_t c) {
  return c < 0x250 || is_between(c, 0x1E00, 0x1EFF) || is_between(c, 0x2C60, 0x2C7F) ||
         is_between(c, 0xA720, 0xA7FF);
}
constexpr bool is_greek(char32_t c) {
  return is_between(c, 0x370, 0x3FF) || is_between(c, 0x1F00, 0x1FFF);
}
constexpr bool is_cyrillic(char32_t c) {
  return is_between(c, 0x400, 0x52F) || is_between(c, 0x1C80, 0x1C8F) ||
         is_between(c, 0x2DE0, 0x2DFF) || is_between(c, 0xA640, 0xA69F);
}

/// The name of the alphabet whose letters `comparable` mixes with Latin ones; null: none.
const char* mixed_alphabet(std::string_view comparable) {
  bool has_latin = false;
  const char* other = nullptr;
  for (std::size_t at = 0; at < comparable.size();) {
    const CodePoint point = code_point_at(comparable, at);
    at += point.bytes;
    if (!core::is_letter(point.value)) continue;
    has_latin = has_latin || is_latin(point.value);
    if (is_greek(point.value)) other = "Greek";
    if (is_cyrillic(point.value)) other = "Cyrillic";
  }
  return has_latin ? other : nullptr;
}

/// Whether it is or could become an id of a league: `P01`, `P100`, `REF01` in any case.
bool could_be_id(std::string_view comparable) {
  if (comparable == "league_manager" || comparable == "operator") return true;
  std::string_view digits = comparable;
  digits.remove_prefix(comparable.starts_with("ref") ? 3 : comparable.starts_with('p') ? 1 : 0);
  return digits.size() < comparable.size() && digits.size() >= 2 &&
         digits.find_first_not_of("0123456789") == digits.npos;
}

std::string hexadecimal(char32_t c) {
  char text[16];
  std::snprintf(text, sizeof(text), "U+%04X", static_cast<unsigned>(c));
  return text;
}

/// Why one of the characters of `nfc`, which is UTF-8, keeps it from being a name.
std::optional<Error> fault_of_characters(std::string_view nfc) {
  bool has_visible = false;
  for (std::size_t at = 0; at < nfc.size();) {
    const CodePoint point = code_point_at(nfc, at);
    if (!core::is_printable(point.value)) {
      return refusal("has the character " + hexadecimal(point.value) +
                     ", which is a control, format or line character: leave it out");
    }
    at += point.bytes;
  }
  const std::string folded = comparable_name(nfc);
  for (std::size_t at = 0; at < folded.size() && !has_visible;) {
    const CodePoint point = code_point_at(folded, at);
    has_visible = core::is_visible(point.value);
    at += point.bytes;
  }
  if (!has_visible)
    return refusal("has no visible character: use letters, digits or other printed characters");
  return std::nullopt;
}

}  // namespace

Result<std::string> admit_display_name(std::string_view name) {
  auto nfc = core::to_nfc(name);
  if (!nfc) return refusal("is not UTF-8: save or send it in UTF-8");
  const std::size_t length = core::count_characters(*nfc);
  if (length < 1 || length > kLongestDisplayName) {
    return refusal((length == 0 ? "" : "\"" + excerpt(safe_text(*nfc)) + "\" ") + "has " +
                   std::to_string(length) + " characters: use 1 to " +
                   std::to_string(kLongestDisplayName));
  }
  if (auto fault = fault_of_characters(*nfc)) return *fault;
  const std::string folded = comparable_name(*nfc);
  if (const char* alphabet = mixed_alphabet(folded)) {
    return refusal("\"" + excerpt(*nfc) + "\" mixes Latin letters with " + alphabet +
                   " ones, which can look the same: use one alphabet");
  }
  if (could_be_id(folded)) {
    return refusal("\"" + excerpt(*nfc) +
                   "\" could be mistaken for an id of the league: choose another one");
  }
  return std::move(*nfc);
}

std::string comparable_name(std::string_view display_name) {
  const auto folded = core::to_nfkc_casefold(display_name);
  return std::string(core::trimmed(folded ? *folded : display_name, " \t\n\v\f\r"));
}

}  // namespace league::envelope
