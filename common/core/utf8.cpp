#include "common/core/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace league::core {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

std::optional<std::string> mapped(std::string_view text, int options) {
  if (text.empty()) return std::string();
  utf8proc_uint8_t* out = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(bytes_of(text), static_cast<utf8proc_ssize_t>(text.size()), &out,
                   static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (length < 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(out), static_cast<std::size_t>(length));
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1, true};
  utf8proc_int32_t value = -1;
  const utf8proc_ssize_t bytes = utf8proc_iterate(
      bytes_of(text) + at, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  if (bytes < 1) return {};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(bytes), true};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!point.is_valid) return false;
    at += point.bytes;
  }
  return true;
}

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= ' ' && c != 0x7F;
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

bool is_letter(char32_t c) {
  const auto category = category_of(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_visible(char32_t c) {
  constexpr char32_t kBlankBraille = 0x2800;  // a symbol without a dot
  const auto category = category_of(c);
  const bool is_mark = category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_SO && !is_mark &&
         c != kBlankBraille;
}

std::size_t terminal_columns(char32_t c) {
  if (c < 0x80) return 1;
  return static_cast<std::size_t>(
      std::clamp(utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)), 0, 2));
}

std::string from_utf16(std::string_view bytes) {
  const std::size_t high = bytes.starts_with("\xFE\xFF") ? 0 : 1;  // the byte that comes first
  const auto unit_at = [&](std::size_t at) {
    return static_cast<utf8proc_int32_t>(static_cast<unsigned char>(bytes[at + high]) << 8U |
                                         static_cast<unsigned char>(bytes[at + 1 - high]));
  };
  std::string text;
  for (std::size_t at = 2; at + 1 < bytes.size(); at += 2) {
    utf8proc_int32_t c = unit_at(at);
    const bool is_pair = c >= 0xD800 && c < 0xDC00 && at + 3 < bytes.size() &&
                         unit_at(at + 2) >= 0xDC00 && unit_at(at + 2) < 0xE000;
    if (is_pair) {
      c = 0x10000 + ((c - 0xD800) << 10) + (unit_at(at + 2) - 0xDC00);
      at += 2;
    } else if (c >= 0xD800 && c < 0xE000) {
      c = 0xFFFD;
    }
    utf8proc_uint8_t out[4];
    const utf8proc_ssize_t length = utf8proc_encode_char(c, out);
    text.append(reinterpret_cast<const char*>(out), static_cast<std::size_t>(length));
  }
  return text;
}

std::optional<std::string> to_nfc(std::string_view text) {
  return mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::optional<std::string> to_nfkc_casefold(std::string_view text) {
  return mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                          UTF8PROC_IGNORE);
}

}  // namespace league::core
