#include "league_manager/view/public_text.h"

#include <algorithm>
#include <array>

#include "common/audit/record/masking.h"

namespace league::league_manager::view {
namespace {

constexpr std::string_view kHidden = "[address]";
/// Characters that separate words; an address can contain any other character.
constexpr std::string_view kBetweenWords = " \t\r\n\"'<>()[]{},;";

bool is_ip_address(std::string_view word) {
  if (word.find_first_not_of("0123456789abcdefABCDEF:.%/") != word.npos) return false;
  // Three dots mean an IPv4 address. Two colons are not enough for IPv6: a time of day has two as
  // well.
  return std::ranges::count(word, '.') >= 3 || std::ranges::count(word, ':') >= 5 ||
         word.find("::") != word.npos;
}

bool is_address(std::string_view word) {
  constexpr std::array<std::string_view, 3> kSchemes{"unix:", "nats:", "stdio:"};
  return word.find("://") != word.npos || word.find('@') != word.npos ||
         (word.starts_with('/') && word.find('/', 1) != word.npos) ||
         word.starts_with("localhost:") || is_ip_address(word) ||
         std::ranges::any_of(kSchemes, [&](auto scheme) { return word.find(scheme) != word.npos; });
}

}  // namespace

std::string public_text(std::string_view text) {
  const std::string masked = audit::record::mask_secrets(text);
  std::string out;
  for (std::size_t at = 0; at < masked.size();) {
    const auto end = std::min(masked.find_first_of(kBetweenWords, at), masked.size());
    const auto word = std::string_view(masked).substr(at, end - at);
    // Punctuation after an address belongs to the sentence.
    const auto bare = word.substr(0, word.find_last_not_of(".:!?") + 1);
    if (is_address(bare)) {
      out.append(kHidden).append(word.substr(bare.size()));
    } else {
      out += word;
    }
    if (end < masked.size()) out += masked[end];
    at = end + 1;
  }
  return out;
}

}  // namespace league::league_manager::view
