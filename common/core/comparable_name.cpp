#include "common/core/comparable_name.h"

#include <cstdint>

#include "common/core/text.h"

namespace league::core {
namespace {

constexpr bool is_between(std::uint32_t c, std::uint32_t first, std::uint32_t last) {
  return c >= first && c <= last;
}

/// The small letter of a character of two bytes in UTF-8 (U+0080 to U+07FF).
std::uint32_t folded(std::uint32_t c) {
  const bool is_capital_with_offset_32 = (is_between(c, 0xC0, 0xDE) && c != 0xD7) ||
                                         (is_between(c, 0x391, 0x3A9) && c != 0x3A2) ||
                                         is_between(c, 0x410, 0x42F);
  if (is_capital_with_offset_32) return c + 32;
  if (is_between(c, 0x400, 0x40F)) return c + 80;
  // In these ranges upper and lower case letters alternate.
  const bool is_even_capital = is_between(c, 0x100, 0x137) || is_between(c, 0x14A, 0x177) ||
                               is_between(c, 0x460, 0x481) || is_between(c, 0x48A, 0x4BF);
  if (is_even_capital) return c | 1U;
  const bool is_odd_capital = is_between(c, 0x139, 0x148) || is_between(c, 0x179, 0x17E);
  if (is_odd_capital) return c + (c & 1U);
  return c;
}

}  // namespace

std::string comparable_name(std::string_view display_name) {
  std::string name(trimmed(display_name, " \t\n\v\f\r"));
  for (std::size_t i = 0; i < name.size(); ++i) {
    auto byte = static_cast<unsigned char>(name[i]);
    if (byte >= 'A' && byte <= 'Z') name[i] = static_cast<char>(byte | 0x20U);
    bool begins_pair = (byte & 0xE0U) == 0xC0U && i + 1 < name.size() &&
                       (static_cast<unsigned char>(name[i + 1]) & 0xC0U) == 0x80U;
    if (!begins_pair) continue;
    std::uint32_t c =
        folded((byte & 0x1FU) << 6U | (static_cast<unsigned char>(name[i + 1]) & 0x3FU));
    name[i] = static_cast<char>(0xC0U | c >> 6U);
    name[++i] = static_cast<char>(0x80U | (c & 0x3FU));
  }
  return name;
}

}  // namespace league::core
