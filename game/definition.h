#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "game/outcome.h"

namespace league::game {

/// What both players chose, in the words of the wire.
using Choices = PerSide<std::string>;

/// The numbers that a game draws from, both ends included.
struct NumberRange {
  int lowest = 0;
  int highest = 0;

  [[nodiscard]] int size() const { return highest - lowest + 1; }
  [[nodiscard]] bool contains(int number) const { return number >= lowest && number <= highest; }
};

/// The decision of a game for a match in which both players chose.
struct Decision {
  Outcome outcome = Outcome::kDraw;
  std::string reason;  ///< one sentence for people

  bool operator==(const Decision&) const = default;
};

/// The points of a match that was lost by a failure. Source: protocol §6.
struct TechnicalPoints {
  int winner = 0;
  int loser = 0;
  int both = 0;  ///< of each, where both failed

  bool operator==(const TechnicalPoints&) const = default;
};

/// A two-player game of one hidden choice each and at most one drawn number, as its file describes
/// it (docs/games.md): its words, and what each player gets for each pair of them. An immutable
/// value: any thread may use it. Source: protocol §7.
class Definition {
 public:
  static constexpr int kHighestPayoff = 100;
  static constexpr int kMostNumbers = 100;

  /// Reads a definition. Fails with kInvalidFieldValue, the rule that is broken, and the place of
  /// the mistake as a JSON pointer (`/payoffs/rock/paper`).
  [[nodiscard]] static core::Result<Definition> read(const nlohmann::json& file);
  /// The same definition as JSON, however its file was written: equal games give equal texts.
  [[nodiscard]] nlohmann::json to_json() const;

  /// The name on the wire: `even_odd`.
  [[nodiscard]] const std::string& game_type() const { return game_type_; }
  /// The words that a player may choose from: 2 to 15, none of which contains `|`. The order is
  /// part of the game: journals refer to it.
  [[nodiscard]] const std::vector<std::string>& choices() const { return choices_; }
  /// Nothing for a game that draws no number.
  [[nodiscard]] std::optional<NumberRange> numbers() const;
  /// The kind of a number in the game's words (`number_parity` on the wire), one of `choices()`;
  /// nothing if the game draws no such number.
  [[nodiscard]] std::optional<std::string_view> kind_of(int number) const;
  /// Whether the payoffs of the two sides differ.
  [[nodiscard]] bool has_roles() const { return payoffs_[Side::kA] != payoffs_[Side::kB]; }
  /// The points of the player at `side` for its own choice and that of the other player, by their
  /// places in `choices()`; `kind` is the place of the drawn number's kind, 0 where none is drawn.
  [[nodiscard]] int payoff(Side side, std::size_t own, std::size_t other, std::size_t kind) const {
    return payoffs_[side][(kind * choices_.size() + own) * choices_.size() + other];
  }
  /// The average of `payoff` over the numbers, each equally likely.
  [[nodiscard]] double expected_payoff(Side side, std::size_t own, std::size_t other) const;

  /// The points of both for choices that have passed `check_choice`; `number` is in `numbers()` and
  /// is set exactly if the game draws one.
  [[nodiscard]] PerSide<int> payoffs(const Choices& choices, std::optional<int> number) const;
  /// Who won: the player with the higher payoff. As for `payoffs`.
  [[nodiscard]] Decision decide(const Choices& choices, std::optional<int> number) const;
  /// The points of both for a technical loss of one player or of both.
  [[nodiscard]] PerSide<int> technical_points(Outcome outcome) const;
  [[nodiscard]] const TechnicalPoints& technical() const { return technical_; }
  /// The outcome that a score shows; nothing if no match of this game ends with it. Where the score
  /// of a technical loss is also that of a played match, `is_technical` says which is meant.
  [[nodiscard]] std::optional<Outcome> outcome_of(const PerSide<int>& score,
                                                  bool is_technical) const;
  /// The highest payoff: what a match can bring.
  [[nodiscard]] int highest_payoff() const;

  /// Whether `choice` is exactly one of `choices()`; kInvalidParityChoice otherwise, with a text
  /// that names them.
  [[nodiscard]] core::Result<void> check_choice(std::string_view choice) const;
  /// The one choice that begins with `text`, as people type it: without regard to case. Nothing
  /// if none or several do, unless `text` is one of them.
  [[nodiscard]] std::optional<std::string_view> choice_like(std::string_view text) const;
  /// The place of `choice` in `choices()`; nothing for any other word.
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view choice) const;

  bool operator==(const Definition&) const = default;

 private:
  friend class DefinitionReader;
  Definition() = default;

  [[nodiscard]] std::size_t kind_index(std::optional<int> number) const;

  std::string game_type_;
  std::vector<std::string> choices_;
  std::vector<std::uint8_t> kinds_;  ///< the places of the kinds of 1, 2, ...
  PerSide<std::vector<std::int16_t>> payoffs_;  ///< by kind, own choice, other choice
  TechnicalPoints technical_;
};

}  // namespace league::game
