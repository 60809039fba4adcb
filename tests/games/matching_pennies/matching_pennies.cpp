#include "tests/games/matching_pennies/matching_pennies.h"

namespace league::testing {

namespace {

constexpr std::array<std::string_view, 2> kWords = {"heads", "tails"};

}  // namespace

std::string_view MatchingPennies::game_type() const { return "matching_pennies"; }

std::span<const std::string_view> MatchingPennies::choices() const { return kWords; }

std::optional<game::NumberRange> MatchingPennies::numbers() const { return std::nullopt; }

std::optional<std::string_view> MatchingPennies::kind_of(int /*number*/) const {
  return std::nullopt;
}

game::Decision MatchingPennies::decide(const game::Choices& choices,
                                       std::optional<int> /*number*/) const {
  if (choices[game::Side::kA] == choices[game::Side::kB])
    return {game::Outcome::kPlayerAWins, "Both players say " + choices[game::Side::kA] + "."};
  return {game::Outcome::kPlayerBWins, "The players say different words."};
}

}  // namespace league::testing
