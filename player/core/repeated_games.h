#pragma once

#include "common/core/random_source.h"
#include "player/core/strategy.h"

// Strategies for players that meet several times. They work from the game's definition and from
// what both chose before, so each plays every game. Pure.
namespace league::player {

/// The opponent's last choice; the game's first choice at the beginning.
[[nodiscard]] std::string_view tit_for_tat(const game::Definition& game, core::RandomSource& random,
                                           const StrategyInput& input);
/// The previous choice, if it brought at least the average payoff of the game, otherwise the next
/// one in the game's order; the game's first choice at the beginning.
[[nodiscard]] std::string_view win_stay_lose_shift(const game::Definition& game,
                                                   core::RandomSource& random,
                                                   const StrategyInput& input);
/// The game's first choice until the opponent has made another one; from then on the choice that
/// leaves the opponent least.
[[nodiscard]] std::string_view grim(const game::Definition& game, core::RandomSource& random,
                                    const StrategyInput& input);
/// The best answer to what the opponent has chosen most often.
[[nodiscard]] std::string_view by_opponents_frequency(const game::Definition& game,
                                                      core::RandomSource& random,
                                                      const StrategyInput& input);
/// The best answer to what the opponent has chosen most often after a meeting like the last one; a
/// chain of Markov whose states are the pairs of choices.
[[nodiscard]] std::string_view markov(const game::Definition& game, core::RandomSource& random,
                                      const StrategyInput& input);

}  // namespace league::player
