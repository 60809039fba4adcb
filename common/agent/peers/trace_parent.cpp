#include "common/agent/peers/trace_parent.h"

#include <array>
#include <random>

#include "common/core/crypto.h"

namespace league::agent::peers {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;

/// The league id in a league message; empty if it has none.
std::string_view league_in(std::string_view message) {
  constexpr std::string_view kMember = "\"league_id\":\"";
  const auto at = message.find(kMember);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + kMember.size());
  return message.substr(0, message.find('"'));
}

/// A random start that differs between processes, so that their spans differ.
std::uint64_t first_span() {
  static const std::uint64_t kFirst = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32U | random();
  }();
  return kFirst;
}

}  // namespace

std::string trace_parent(std::string_view message, std::string_view conversation_id,
                         std::uint64_t span) {
  std::string text(league_in(message));
  text.append("/").append(conversation_id);
  std::array<std::uint8_t, kSpanDigits / 2> id{};
  std::uint64_t number = first_span() + span;
  if (number == 0) number = 1;  // an id of zeros is invalid
  for (auto& byte : id) {
    byte = static_cast<std::uint8_t>(number >> 56U);
    number <<= 8U;
  }
  return "00-" + core::to_hex(core::sha256(text)).substr(0, kTraceDigits) + "-" + core::to_hex(id) +
         "-01";
}

}  // namespace league::agent::peers
