#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/crypto.h"
#include "common/core/result.h"

namespace league::referee::rules {

/// The 256 bits from which one match's number is drawn; made by the league manager. Source:
/// protocol §7.
using DrawSeed = core::Digest;

/// What both players chose, as it is written on the wire.
struct Choices {
  std::string player_a;
  std::string player_b;

  bool operator==(const Choices&) const = default;
};

/// Who won a game that was played to its end.
enum class Winner { kNobody, kPlayerA, kPlayerB };

/// A game's result by its own rules; points are the league's matter.
struct Outcome {
  Winner winner = Winner::kNobody;
  std::string
      number_kind;  ///< what the number is in the game's words: `even`; on the wire `number_parity`
  std::string reason;  ///< one sentence for people

  bool operator==(const Outcome&) const = default;
};

/// What a game is before anybody has chosen; the same for every match of the game.
struct GameState {
  std::string game_type;
  std::vector<std::string> allowed_choices;
  int lowest_number = 0;
  int highest_number = 0;
};

/// The rules of one two-player game of hidden choices and one drawn number. Implementations are
/// pure and immutable, so they may be used from any thread. A second game is one new file and one
/// line in rules_registry.cpp.
class RulesModule {
 public:
  virtual ~RulesModule() = default;

  /// The name on the wire: `even_odd`.
  [[nodiscard]] virtual std::string_view game_type() const = 0;
  [[nodiscard]] virtual GameState init_game_state() const = 0;
  /// `choice` itself if it is allowed, exactly as written; kInvalidParityChoice otherwise.
  [[nodiscard]] virtual core::Result<std::string> validate_choice(
      std::string_view choice) const = 0;
  /// The number of the match: a function of its arguments only, so that anybody who has them can
  /// check it. `choices` have passed `validate_choice`.
  [[nodiscard]] virtual int draw_number(const DrawSeed& seed, std::string_view match_id,
                                        const Choices& choices) const = 0;
  /// Who won. `choices` have passed `validate_choice`, `number` came from `draw_number`.
  [[nodiscard]] virtual Outcome determine_winner(const Choices& choices, int number) const = 0;
};

}  // namespace league::referee::rules
