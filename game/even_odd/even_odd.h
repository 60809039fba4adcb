#pragma once

#include "game/rules.h"

namespace league::game::even_odd {

/// Even/Odd: each player says `even` or `odd`, and a number from 1 to 10 is drawn. If exactly one
/// player is right, that player wins; otherwise it is a draw. Source: protocol §7.
class EvenOdd final : public Rules {
 public:
  [[nodiscard]] std::string_view game_type() const override;
  [[nodiscard]] std::span<const std::string_view> choices() const override;
  [[nodiscard]] std::optional<NumberRange> numbers() const override;
  [[nodiscard]] std::optional<std::string_view> kind_of(int number) const override;
  [[nodiscard]] Decision decide(const Choices& choices, std::optional<int> number) const override;
};

}  // namespace league::game::even_odd
