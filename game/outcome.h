#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "game/side.h"

namespace league::game {

/// How a match ended for the table; `kNoWinner` is a technical loss of both players.
enum class Outcome : std::uint8_t { kPlayerAWins, kPlayerBWins, kDraw, kNoWinner };
inline constexpr std::array<Outcome, 4> kAllOutcomes = {
    Outcome::kPlayerAWins, Outcome::kPlayerBWins, Outcome::kDraw, Outcome::kNoWinner};

/// `A`, `B`, `DRAW`, `NONE`: as the journal writes them.
[[nodiscard]] std::string_view outcome_name(Outcome outcome);
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view text);

/// The side that won, if one did.
[[nodiscard]] std::optional<Side> winner_of(Outcome outcome);
[[nodiscard]] Outcome win_of(Side side);

}  // namespace league::game
