#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "game/outcome.h"

namespace league::game {

/// What both players chose, in the words of the wire.
using Choices = PerSide<std::string>;

/// The numbers that a game draws from, both ends included; at most 256 of them.
struct NumberRange {
  int lowest = 0;
  int highest = 0;

  [[nodiscard]] int size() const { return highest - lowest + 1; }
  [[nodiscard]] bool contains(int number) const { return number >= lowest && number <= highest; }
};

/// The decision of a game's rules for a match in which both players chose.
struct Decision {
  Outcome outcome = Outcome::kDraw;
  std::string reason;  ///< one sentence for people

  bool operator==(const Decision&) const = default;
};

/// The rules of one two-player game of hidden choices and at most one drawn number.
/// Implementations are pure and immutable, so any thread may use them. A new game is one new folder
/// beside `even_odd/` and one line in registry.cpp. Source: protocol §7.
class Rules {
 public:
  virtual ~Rules() = default;

  /// The name on the wire: `even_odd`.
  [[nodiscard]] virtual std::string_view game_type() const = 0;
  /// The words that a player may choose from: 2 to 15, none of which contains `|`. The order is
  /// part of the game: journals refer to it.
  [[nodiscard]] virtual std::span<const std::string_view> choices() const = 0;
  /// Nothing for a game that draws no number.
  [[nodiscard]] virtual std::optional<NumberRange> numbers() const = 0;
  /// The kind of a number in the game's words (`number_parity` on the wire), one of `choices()`;
  /// nothing if the game has no such words.
  [[nodiscard]] virtual std::optional<std::string_view> kind_of(int number) const = 0;
  /// Decides who won. `choices` have passed `check_choice`; `number` is in `numbers()` and is set
  /// exactly if the game draws one.
  [[nodiscard]] virtual Decision decide(const Choices& choices,
                                        std::optional<int> number) const = 0;

  /// Whether `choice` is exactly one of `choices()`; kInvalidParityChoice otherwise, with a text
  /// that names them.
  [[nodiscard]] core::Result<void> check_choice(std::string_view choice) const;
  /// The place of `choice` in `choices()`; nothing for any other word.
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view choice) const;
};

}  // namespace league::game
