#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "league_manager/events/compact_result.h"

namespace league::league_manager {

/// The totals of a player.
struct Tally {
  int played = 0;
  int wins = 0;
  int draws = 0;
  int losses = 0;
  int points = 0;

  bool operator==(const Tally&) const = default;
};

/// A row of the table; players by index. Rows that differ only in the player share a rank.
struct RankedPlayer {
  int rank = 0;
  int player = 0;
  Tally tally;

  bool operator==(const RankedPlayer&) const = default;
};

/// When the matches among players with the same points decide between them.
enum class DirectMatches : std::uint8_t {
  kAlways,  ///< the rule of journals from before meetings
  kIfEquallyOften,  ///< only if each two of them have met equally often
};

/// The table: a pure function of the set of results, whatever their order. Rank: points, then
/// points in the matches among all who are tied (one pass, see DirectMatches), then wins, then
/// fewer draws, then order of registration, which is the order of the ids. A technical loss of both
/// counts as a loss for both. Source: protocol §6, §7. Not thread-safe.
class Standings {
 public:
  Standings() = default;
  /// For players with indices below `players`; those in `absent` have no row.
  explicit Standings(int players, std::vector<int> absent = {},
                     DirectMatches direct = DirectMatches::kIfEquallyOften);

  /// Counts a match; each pair at most 255 times.
  void record(int player_a, int player_b, const events::CompactResult& result);
  /// Removes a match that has been counted.
  void withdraw(int player_a, int player_b, const events::CompactResult& result);
  [[nodiscard]] const Tally& tally(int player) const {
    return tallies_[static_cast<std::size_t>(player)];
  }
  [[nodiscard]] int players() const { return static_cast<int>(tallies_.size()); }
  /// All players that have a row, by rank.
  [[nodiscard]] std::vector<RankedPlayer> table() const;

  bool operator==(const Standings&) const = default;

 private:
  void count(int player, game::Side side, const events::CompactResult& result, int matches);
  void count_pair(int player_a, int player_b, game::PerSide<std::uint8_t> points, int matches);
  [[nodiscard]] std::size_t pair_index(int lower, int higher) const;
  /// Adds to `points`, by player, what those in `tied` have won against each other, if that counts.
  void add_direct_points(std::span<const int> tied, std::vector<int>& points) const;

  std::vector<Tally> tallies_;
  std::vector<int> absent_;
  DirectMatches direct_ = DirectMatches::kIfEquallyOften;
  /// How two players have fared against each other.
  struct Pair {
    std::uint16_t met = 0;
    std::uint16_t lower = 0;  ///< points of the one with the lower index
    std::uint16_t higher = 0;
    bool operator==(const Pair&) const = default;
  };
  std::vector<Pair> pairs_;
};

}  // namespace league::league_manager
