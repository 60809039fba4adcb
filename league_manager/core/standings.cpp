#include "league_manager/core/standings.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace league::league_manager {

Standings::Standings(int players, std::vector<int> absent, DirectMatches direct)
    : tallies_(static_cast<std::size_t>(players)),
      absent_(std::move(absent)),
      direct_(direct),
      pairs_(static_cast<std::size_t>(players) *
             static_cast<std::size_t>(std::max(players - 1, 0)) / 2) {}

void Standings::record(int player_a, int player_b, const events::CompactResult& result) {
  count(player_a, game::Side::kA, result, 1);
  count(player_b, game::Side::kB, result, 1);
  count_pair(player_a, player_b, result.points, 1);
}

void Standings::withdraw(int player_a, int player_b, const events::CompactResult& result) {
  count(player_a, game::Side::kA, result, -1);
  count(player_b, game::Side::kB, result, -1);
  count_pair(player_a, player_b, result.points, -1);
}

void Standings::count(int player, game::Side side, const events::CompactResult& result,
                      int matches) {
  Tally& tally = tallies_[static_cast<std::size_t>(player)];
  tally.played += matches;
  tally.points += matches * result.points[side];
  if (game::winner_of(result.outcome) == side) {
    tally.wins += matches;
  } else if (result.outcome == game::Outcome::kDraw) {
    tally.draws += matches;
  } else {
    tally.losses += matches;
  }
}

void Standings::count_pair(int player_a, int player_b, game::PerSide<std::uint8_t> points,
                           int matches) {
  if (player_a > player_b) {
    std::swap(player_a, player_b);
    std::swap(points.both[0], points.both[1]);
  }
  const auto add = [matches](std::uint16_t& sum, int of_match) {
    sum = static_cast<std::uint16_t>(sum + matches * of_match);
  };
  Pair& pair = pairs_[pair_index(player_a, player_b)];
  add(pair.met, 1);
  add(pair.lower, points.both[0]);
  add(pair.higher, points.both[1]);
}

void Standings::add_direct_points(std::span<const int> tied, std::vector<int>& points) const {
  std::optional<int> met;
  for (const int lower : tied) {
    for (const int higher : tied) {
      if (lower >= higher) continue;
      const Pair& pair = pairs_[pair_index(lower, higher)];
      const bool is_equal = met.value_or(pair.met) == pair.met;
      if (!is_equal && direct_ == DirectMatches::kIfEquallyOften) {
        for (const int player : tied) points[static_cast<std::size_t>(player)] = 0;
        return;
      }
      met = pair.met;
      points[static_cast<std::size_t>(lower)] += pair.lower;
      points[static_cast<std::size_t>(higher)] += pair.higher;
    }
  }
}

std::vector<RankedPlayer> Standings::table() const {
  auto count = tallies_.size();
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order,
                [this](int player) { return std::ranges::find(absent_, player) != absent_.end(); });
  auto tally_of = [this](int player) -> const Tally& { return tally(player); };
  std::ranges::stable_sort(order,
                           [&](int a, int b) { return tally_of(a).points > tally_of(b).points; });

  std::vector<int> among_tied(count);
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = std::find_if(begin, order.end(), [&](int other) {
      return tally_of(other).points != tally_of(*begin).points;
    });
    add_direct_points({begin, end}, among_tied);
    begin = end;
  }
  auto key = [&](int player) {
    const Tally& t = tally_of(player);
    return std::tuple(-t.points, -among_tied[static_cast<std::size_t>(player)], -t.wins, t.draws);
  };
  std::ranges::stable_sort(order, [&](int a, int b) {
    return std::tuple_cat(key(a), std::tuple(a)) < std::tuple_cat(key(b), std::tuple(b));
  });
  std::vector<RankedPlayer> table;
  table.reserve(count);
  for (int player : order) {
    int rank = static_cast<int>(table.size()) + 1;
    if (!table.empty() && key(table.back().player) == key(player)) rank = table.back().rank;
    table.push_back({rank, player, tally_of(player)});
  }
  return table;
}

std::size_t Standings::pair_index(int lower, int higher) const {
  auto i = static_cast<std::size_t>(lower);
  auto j = static_cast<std::size_t>(higher);
  return i * (2 * tallies_.size() - i - 1) / 2 + (j - i - 1);
}

}  // namespace league::league_manager
