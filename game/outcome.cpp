#include "game/outcome.h"

namespace league::game {

namespace {

constexpr std::array<std::string_view, kAllOutcomes.size()> kNames = {"A", "B", "DRAW", "NONE"};

}  // namespace

std::string_view outcome_name(Outcome outcome) { return kNames[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> parse_outcome(std::string_view text) {
  for (Outcome outcome : kAllOutcomes) {
    if (outcome_name(outcome) == text) return outcome;
  }
  return std::nullopt;
}

std::optional<Side> winner_of(Outcome outcome) {
  if (outcome == Outcome::kPlayerAWins) return Side::kA;
  if (outcome == Outcome::kPlayerBWins) return Side::kB;
  return std::nullopt;
}

Outcome win_of(Side side) {
  return side == Side::kA ? Outcome::kPlayerAWins : Outcome::kPlayerBWins;
}

}  // namespace league::game
