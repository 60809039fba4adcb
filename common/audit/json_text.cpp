#include "common/audit/json_text.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace league::audit {
namespace {

/// 0: copy the byte; 'u': `\u00XX`; else the letter after the backslash.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < 0x20; ++i) table[i] = 'u';
  table['"'] = '"';
  table['\\'] = '\\';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['\b'] = 'b';
  table['\f'] = 'f';
  return table;
}();

constexpr std::string_view kHex = "0123456789abcdef";

/// The length of the character that begins at `i`; 0 if it is not one.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  auto tail = [&](std::size_t at) { return (byte(at) & 0xC0U) == 0x80; };
  unsigned first = byte(i);
  unsigned second = byte(i + 1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || !tail(i + 1)) return 0;
  if (first < 0xE0) return 2;
  if (!tail(i + 2)) return 0;
  if (first < 0xF0)
    return (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ? 0 : 3;
  if (first > 0xF4 || !tail(i + 3)) return 0;
  return (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F) ? 0 : 4;
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  // Through a buffer on the stack: messages hold a quote every few bytes, and appending each run to
  // the string costs several times as much as copying it.
  constexpr std::size_t kLongestEscape = 6;
  std::array<char, 1024>
      buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  char* to = buffer.data();
  char* const full = buffer.data() + buffer.size() - kLongestEscape;
  *to++ = '"';
  for (char letter : text) {
    if (to >= full) {
      out.append(buffer.data(), static_cast<std::size_t>(to - buffer.data()));
      to = buffer.data();
    }
    auto c = static_cast<unsigned char>(letter);
    char escape = kEscapes[c];
    if (escape == 0) {
      *to++ = letter;
      continue;
    }
    *to++ = '\\';
    *to++ = escape;
    if (escape != 'u') continue;
    *to++ = '0';
    *to++ = '0';
    *to++ = kHex[c >> 4U];
    *to++ = kHex[c & 15U];
  }
  *to++ = '"';
  out.append(buffer.data(), static_cast<std::size_t>(to - buffer.data()));
}

bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    std::uint64_t word = 0;
    if (i + sizeof(word) <= text.size()) {
      std::memcpy(&word, text.data() + i, sizeof(word));
      if ((word & 0x8080808080808080U) == 0) {
        i += sizeof(word);
        continue;
      }
    }
    std::size_t length = utf8_length(text, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && limit - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
    --end;
  return text.substr(0, end);
}

void append_base64(std::string_view bytes, std::string& out) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    out += kDigits[three >> 18U & 63U];
    out += kDigits[three >> 12U & 63U];
    out += i + 1 < bytes.size() ? kDigits[three >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63U] : '=';
  }
}

}  // namespace league::audit
