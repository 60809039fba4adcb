#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "game/draw.h"

namespace league::game {

/// The result of a match, the same in referee, manager, journal and verifier. `technical_reason` is
/// machine-readable (`TIMEOUT_CHOICE`) and empty unless somebody lost by a failure.
struct MatchResult {
  Outcome outcome = Outcome::kNoWinner;
  std::optional<int> drawn_number;
  PerSide<std::optional<std::string>> choices;  ///< nothing for a player that never chose
  std::string technical_reason;

  [[nodiscard]] bool is_technical() const { return !technical_reason.empty(); }

  bool operator==(const MatchResult&) const = default;
};

/// A result and why, in a sentence for people.
struct ExplainedResult {
  MatchResult result;
  std::string reason;
};

/// The result of a match in which both chose: draws the number, if the game has one, and decides.
[[nodiscard]] ExplainedResult play(const Definition& rules, const DrawInput& input);

/// The points of both players. Of a match that was played, a third-party referee may have reported
/// no more than the outcome; then they are the usual ones.
[[nodiscard]] PerSide<int> points_of(const Definition& rules, const MatchResult& result);

/// The result of a match in which at least one player failed: the other one (`winner`) wins, or
/// both lose (no `winner`). Source: protocol §6.
[[nodiscard]] MatchResult technical_result(std::optional<Side> winner, std::string_view reason,
                                           PerSide<std::optional<std::string>> choices = {});

}  // namespace league::game
