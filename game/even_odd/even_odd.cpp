#include "game/even_odd/even_odd.h"

namespace league::game::even_odd {

namespace {

constexpr std::array<std::string_view, 2> kWords = {"even", "odd"};
constexpr NumberRange kNumbers{1, 10};

}  // namespace

std::string_view EvenOdd::game_type() const { return "even_odd"; }

std::span<const std::string_view> EvenOdd::choices() const { return kWords; }

std::optional<NumberRange> EvenOdd::numbers() const { return kNumbers; }

std::optional<std::string_view> EvenOdd::kind_of(int number) const {
  return kWords[number % 2 == 0 ? 0 : 1];
}

Decision EvenOdd::decide(const Choices& choices, std::optional<int> number) const {
  const std::string kind(*kind_of(number.value_or(kNumbers.lowest)));
  const bool a_is_right = choices[Side::kA] == kind;
  const bool b_is_right = choices[Side::kB] == kind;
  const std::string drawn = "The number is " + std::to_string(number.value_or(kNumbers.lowest)) +
                            ", which is " + kind + ": ";
  if (a_is_right && b_is_right) return {Outcome::kDraw, drawn + "both players are right."};
  if (a_is_right) return {Outcome::kPlayerAWins, drawn + "only player A is right."};
  if (b_is_right) return {Outcome::kPlayerBWins, drawn + "only player B is right."};
  return {Outcome::kDraw, drawn + "both players are wrong."};
}

}  // namespace league::game::even_odd
