#include "common/core/text.h"

#include <algorithm>

namespace league::core {

std::string shown(std::string_view text, std::size_t longest) {
  std::string out(text.substr(0, longest));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > longest ? out + "..." : out;
}

std::string excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  // The second to fourth byte of a character in UTF-8 begin with the bits 10.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80) --most;
  return std::string(text.substr(0, most)).append("...");
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace league::core
