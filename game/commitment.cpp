#include "game/commitment.h"

#include <algorithm>

#include "common/core/crypto.h"

namespace league::game {

std::string choice_commitment(const CommittedChoice& committed) {
  std::string text(committed.draw_commitment);
  for (std::string_view part :
       {committed.match_id, committed.player_id, committed.choice, committed.nonce}) {
    text += '|';
    text += part;
  }
  return core::to_hex(core::sha256(text));
}

bool is_hex_256(std::string_view text) {
  return text.size() == 2 * core::Digest{}.size() && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string_view fairness_name(Fairness fairness) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "claimed", "hosted", "one", "both"};
  return kNames[static_cast<std::size_t>(fairness)];
}

std::optional<Fairness> parse_fairness(std::string_view text) {
  for (Fairness fairness : kAllFairness) {
    if (fairness_name(fairness) == text) return fairness;
  }
  return std::nullopt;
}

Fairness fairness_of(const Bindings& bindings) {
  const auto count = std::ranges::count_if(
      bindings.commitments.both, [](const auto& commitment) { return commitment.has_value(); });
  constexpr std::array<Fairness, 3> kByCount = {Fairness::kNone, Fairness::kOne, Fairness::kBoth};
  return kByCount[static_cast<std::size_t>(count)];
}

}  // namespace league::game
