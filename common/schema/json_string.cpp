#include "common/schema/json_string.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/schema/byte_blocks.h"
#include "common/schema/parse_json.h"

namespace league::schema {
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

/// At most six bytes.
char* put_letter(char letter, char* to) {
  auto c = static_cast<unsigned char>(letter);
  char escape = kEscapes[c];
  if (escape == 0) {
    *to++ = letter;
    return to;
  }
  *to++ = '\\';
  *to++ = escape;
  if (escape != 'u') return to;
  *to++ = '0';
  *to++ = '0';
  *to++ = kHex[c >> 4U];
  *to++ = kHex[c & 15U];
  return to;
}

/// Which letters of `block` need an escape.
std::uint32_t escaped_in(const Block& block) {
  return bits_of_block((block < splat(0x20)) | (block == splat('"')) | (block == splat('\\')));
}

/// One block of letters from `from`, behind which another may be read.
inline char* put_block(const char* from, char* to) {
  const char* end = from + kBlock;
  const char* begin = from;
  for (std::uint32_t escaped = escaped_in(load_block(from)); escaped != 0; escaped &= escaped - 1) {
    const char* at = begin + std::countr_zero(escaped);
    std::memcpy(to, from, kBlock);
    to += at - from;
    from = at + 1;
    if (*at == '"') {
      std::memcpy(to, "\\\"", 2);  // NOLINT(bugprone-not-null-terminated-result): no end is wanted
      to += 2;
    } else {
      to = put_letter(*at, to);
    }
  }
  std::memcpy(to, from, kBlock);
  return to + (end - from);
}

/// `size` letters, fewer than two blocks, from a place where four may be read.
char* put_tail(const char* from, std::size_t size, char* to) {
  if (size >= kBlock) {
    to = put_block(from, to);
    from += kBlock;
    size -= kBlock;
  }
  // Only spaces follow, and they need no escapes.
  return put_block(from, to) - (kBlock - size);
}

/// What two blocks, the letters that are copied behind the last escape, and the last quote may
/// need.
constexpr std::size_t kMostPerBlock = (2 * 6 + 1) * kBlock + 2;

/// Room for two blocks at `to` in `out`, which grows if `left` letters turn out to need more than
/// was thought.
char* make_room(std::string& out, char* to, std::size_t left) {
  std::size_t size = static_cast<std::size_t>(to - out.data());
  if (out.size() - size >= kMostPerBlock) return to;
  out.resize(size + 6 * left + 2 * kMostPerBlock);
  return out.data() + size;
}

/// Whether `text` is what most names and values are: ASCII without anything to escape.
bool is_plain(std::string_view text) {
  const auto has_other = [](const char* at) {
    const Block block = load_block(at);
    return bits_of_block((block < splat(0x20)) | (block >= splat(0x7f)) | (block == splat('"')) |
                         (block == splat('\\'))) != 0;
  };
  if (text.size() < kBlock) {
    std::array<char, kBlock> block;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    block.fill(' ');
    std::copy(text.begin(), text.end(), block.begin());
    return !has_other(block.data());
  }
  for (std::size_t i = 0; i + kBlock <= text.size(); i += kBlock) {
    if (has_other(text.data() + i)) return false;
  }
  return !has_other(text.data() + text.size() - kBlock);
}

void append_escaped(std::string& out, std::string_view text) {
  // Written in place behind the end of `out`, a block at a time: a message has a quote every few
  // bytes, and appending each run costs several times as much as copying it.
  std::size_t before = out.size();
  out.resize(before + text.size() + text.size() / 4 + 2 * kMostPerBlock);
  char* to = out.data() + before;
  *to++ = '"';
  std::size_t i = 0;
  for (; i + 2 * kBlock <= text.size(); i += kBlock) {
    to = make_room(out, to, text.size() - i);
    to = put_block(text.data() + i, to);
  }
  to = make_room(out, to, text.size() - i);
  if (i < text.size()) {
    // The last letters in a block of their own: read up to its end, written only as far as they go.
    std::array<char, 4 * kBlock> rest;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::memset(rest.data(), ' ', rest.size());
    std::memcpy(rest.data(), text.data() + i, text.size() - i);
    to = put_tail(rest.data(), text.size() - i, to);
  }
  *to++ = '"';
  out.resize(static_cast<std::size_t>(to - out.data()));
}

void append_plain(std::string& out, std::string_view text) {
  out += '"';
  out += text;
  out += '"';
}

}  // namespace

void append_utf8_json_string(std::string& out, std::string_view text) {
  is_plain(text) ? append_plain(out, text) : append_escaped(out, text);
}

void append_json_string(std::string& out, std::string_view text) {
  if (is_plain(text)) return append_plain(out, text);
  if (is_utf8(text)) return append_escaped(out, text);
  // Invalid UTF-8 is rare; the library replaces it.
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace league::schema
