#pragma once

#include "game/rules.h"

namespace league::testing {

/// Matching pennies: each player says `heads` or `tails`; A wins if both say the same, B if they do
/// not. Nothing is drawn. It shows what a second game is: this folder and one line in a registry.
class MatchingPennies final : public game::Rules {
 public:
  [[nodiscard]] std::string_view game_type() const override;
  [[nodiscard]] std::span<const std::string_view> choices() const override;
  [[nodiscard]] std::optional<game::NumberRange> numbers() const override;
  [[nodiscard]] std::optional<std::string_view> kind_of(int number) const override;
  [[nodiscard]] game::Decision decide(const game::Choices& choices,
                                      std::optional<int> number) const override;
};

}  // namespace league::testing
