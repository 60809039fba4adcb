#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "league_manager/core/league.h"

namespace league::league_manager::table {

/// A match that says something about its players: it was played and counts. Players by index.
struct CountedMatch {
  int player_a = 0;
  int player_b = 0;
  game::Outcome outcome = game::Outcome::kDraw;  ///< a win or a draw
};

/// Of a league with more matches there are no figures, since they would take too much memory.
inline constexpr int kMostRated = 5'000'000;

/// The matches of `league` that figures are made of, by round and number: all that have a result,
/// without void ones and technical losses. None if there are more than kMostRated.
[[nodiscard]] std::vector<CountedMatch> counted_matches(const League& league);

/// How strong a player is, as far as the results tell. Source: docs/table.md.
struct Rating {
  double rating =
      0;  ///< as in chess: the mean of all is 1,500, and 400 more are ten wins to a loss
  std::optional<double> error = std::nullopt;  ///< one standard error
  std::optional<double> p_first =
      std::nullopt;  ///< the probability that it is the strongest of all
};

/// The figures beside the points.
struct Figures {
  std::vector<std::optional<Rating>> players;  ///< by index; nothing without a counted match
  /// The probability that equal players would give a table at least this uneven; nothing without a
  /// match that was won.
  std::optional<double> luck;
  std::size_t matches = 0;  ///< counted
};

/// With more players than these, there are ratings only.
inline constexpr std::size_t kMostWithErrors = 2000;
/// Whose `p_first` is lower is not decided to be the first.
inline constexpr double kDecided = 0.95;

/// The figures that follow from the `matches` of `players` players, to the bit as docs/table.md has
/// it; `league_id` is the seed. Takes seconds for thousands of players. Nothing if it was stopped.
[[nodiscard]] std::optional<Figures> figures_of(int players, std::span<const CountedMatch> matches,
                                                std::string_view league_id,
                                                const std::stop_token& stop = {});
/// Those of `league` as it is now.
[[nodiscard]] Figures figures_of(const League& league);

/// What `Figures::luck` means, in a sentence; empty for nothing.
[[nodiscard]] std::string luck_sentence(const std::optional<double>& luck);
/// That of the player with this id; null: nothing is known.
[[nodiscard]] const Rating* rating_of(const Figures& figures, std::string_view player_id);
/// Whether the first place of `champion`, which may be null, is shown as decided.
[[nodiscard]] bool is_decided(const Rating* champion);

}  // namespace league::league_manager::table
