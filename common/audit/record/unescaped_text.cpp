#include "common/audit/record/unescaped_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace league::audit::record {
namespace {

/// The character of the four hexadecimal digits at `i`; those beyond ASCII become `?`.
std::optional<char> hex4(std::string_view text, std::size_t i) {
  if (i + 4 > text.size()) return std::nullopt;
  unsigned value = 0;
  const char* begin = text.data() + i;
  auto [end, fault] = std::from_chars(begin, begin + 4, value, 16);
  if (fault != std::errc{} || end != begin + 4) return std::nullopt;
  return value < 0x80 ? static_cast<char>(value) : '?';
}

}  // namespace

UnescapedText::UnescapedText(std::string_view raw)
    : raw_(raw),
      plain_(raw.empty() || (std::memchr(raw.data(), '\\', raw.size()) == nullptr &&
                             std::memchr(raw.data(), '\0', raw.size()) == nullptr)) {
  if (!plain_) decode();
}

bool UnescapedText::closes(std::size_t open, std::size_t i) const {
  if (plain_) return true;
  // A string at depth d is opened after 2^d-1 backslashes; what stands inside it has those of its
  // own depth, and a backslash as the last character adds pairs.
  std::size_t level = escapes_[open];
  std::size_t found = escapes_[i];
  return found < level || found % (2 * (level + 1)) == level;
}

void UnescapedText::decode() {
  chars_.reserve(raw_.size());
  positions_.reserve(raw_.size() + 1);
  escapes_.reserve(raw_.size());
  for (std::size_t i = 0; i < raw_.size();) {
    if (raw_[i] == '\\') {
      i = decode_escape(i);
    } else {
      // Zero bytes: ASCII that somebody sent as UTF-16.
      if (raw_[i] != '\0') add(raw_[i], i, 0);
      ++i;
    }
  }
  positions_.push_back(static_cast<std::uint32_t>(raw_.size()));
}

/// Skips a run of backslashes, also those that are written `\u005c`.
std::size_t UnescapedText::end_of_run(std::size_t i, std::size_t& backslashes) const {
  std::size_t run = 0;
  for (; i < raw_.size(); ++i) {
    if (raw_[i] == '\\') {
      ++run;
    } else if (run > 0 && raw_[i] == 'u' && hex4(raw_, i + 1) == '\\') {
      backslashes += 2 * run;
      run = 0;
      i += 4;
    } else {
      break;
    }
  }
  backslashes += run;
  return i;
}

std::size_t UnescapedText::decode_escape(std::size_t i) {
  std::size_t begin = i;
  std::size_t backslashes = 0;
  i = end_of_run(i, backslashes);
  if (i == raw_.size()) return i;
  char c = raw_[i];
  if (auto decoded = c == 'u' ? hex4(raw_, i + 1) : std::nullopt) {
    add(*decoded, begin, 2 * backslashes - 1);
    return i + 5;
  }
  bool space = c != '\0' && std::strchr("nrtbf", c) != nullptr;
  if (c != '\0') add(c, begin, space ? std::size_t{kSpaceEscape} : backslashes);
  return i + 1;
}

void UnescapedText::add(char c, std::size_t position, std::size_t escapes) {
  chars_ += c;
  positions_.push_back(static_cast<std::uint32_t>(position));
  escapes_.push_back(static_cast<std::uint16_t>(std::min<std::size_t>(escapes, kSpaceEscape)));
}

}  // namespace league::audit::record
