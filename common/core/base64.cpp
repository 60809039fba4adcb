#include "common/core/base64.h"

#include <cstdint>

namespace league::core {
namespace {

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

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

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  std::uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out += static_cast<char>((bits >> static_cast<unsigned>(have)) & 0xFFU);
  }
  bool is_complete = (text.size() + padding) % 4 == 0 && (bits & ((1U << have) - 1U)) == 0;
  return is_complete ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace league::core
