#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/random_source.h"
#include "common/core/result.h"
#include "game/games.h"
#include "player/core/history.h"

namespace league::player {

/// What both chose in an earlier match of the two.
struct Meeting {
  std::string_view own;
  std::string_view theirs;

  bool operator==(const Meeting&) const = default;
};

/// What a player knows when it has to choose. Valid only during the call.
struct StrategyInput {
  core::LeagueId league_id;
  core::MatchId match_id;
  int round_id = 0;  ///< 0: the referee did not say
  core::PlayerId opponent_id;
  const MatchHistory& history;
  /// The meetings with this opponent that the referee told of, the oldest first.
  std::vector<Meeting> told = {};
  /// Which meeting of the two this is, from 1; nothing: the referee did not say.
  std::optional<int> meeting = std::nullopt;
  game::Side side = game::Side::kA;  ///< our own in this match
  std::optional<ResultCounts> standings = std::nullopt;  ///< our own; nothing: the referee did not
                                                         ///< send them
};

/// History in, choice out: one of the choices of the game that the strategy was made for. It keeps
/// no state except the rules and the random source, so it can be called repeatedly and from any
/// thread.
using Strategy = std::function<std::string_view(const StrategyInput& input)>;

/// The strategy called `name` for the game of `rules`; an Error that lists the known names
/// otherwise. `rules` and `random` outlive it.
[[nodiscard]] core::Result<Strategy> make_strategy(std::string_view name,
                                                   const game::Definition& rules,
                                                   core::RandomSource& random);

/// `random`, then each choice of the game (as a strategy it always makes that choice), `alternate`,
/// `frequency`, `opposite`, and those of repeated_games.h.
[[nodiscard]] std::vector<std::string_view> known_strategies(const game::Definition& rules);
/// The known strategies for Even/Odd.
[[nodiscard]] std::vector<std::string_view> known_strategies();

/// What a player that chose `choices` will choose next: its constant choice, the next one if it
/// goes through the choices in order, otherwise its most frequent choice; nothing if that is not
/// unique.
[[nodiscard]] std::optional<std::string_view> predict_next(
    const game::Definition& rules, const std::vector<std::string_view>& choices);

}  // namespace league::player
