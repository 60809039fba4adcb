#include "league_manager/core/standings.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace league::league_manager {

Standings::Standings(int players, std::vector<int> absent)
    : tallies_(static_cast<std::size_t>(players)),
      absent_(std::move(absent)),
      pairs_(static_cast<std::size_t>(players) *
             static_cast<std::size_t>(std::max(players - 1, 0)) / 2) {}

void Standings::record(int player_a, int player_b, game::Outcome outcome) {
  count(player_a, game::Side::kA, outcome, 1);
  count(player_b, game::Side::kB, outcome, 1);
  set_pair(player_a, player_b, game::points_of(outcome));
}

void Standings::withdraw(int player_a, int player_b, game::Outcome outcome) {
  count(player_a, game::Side::kA, outcome, -1);
  count(player_b, game::Side::kB, outcome, -1);
  set_pair(player_a, player_b, {});
}

void Standings::count(int player, game::Side side, game::Outcome outcome, int matches) {
  Tally& tally = tallies_[static_cast<std::size_t>(player)];
  tally.played += matches;
  tally.points += matches * game::points_of(outcome)[side];
  if (game::winner_of(outcome) == side) {
    tally.wins += matches;
  } else if (outcome == game::Outcome::kDraw) {
    tally.draws += matches;
  } else {
    tally.losses += matches;
  }
}

void Standings::set_pair(int player_a, int player_b, game::PerSide<int> points) {
  if (player_a > player_b) {
    std::swap(player_a, player_b);
    std::swap(points.both[0], points.both[1]);
  }
  pairs_[pair_index(player_a, player_b)] =
      static_cast<std::uint8_t>(points.both[0] | points.both[1] << 2);
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
    for (auto one = begin; one != end; ++one) {
      for (auto other = begin; other != end; ++other) {
        if (*one != *other)
          among_tied[static_cast<std::size_t>(*one)] += points_against(*one, *other);
      }
    }
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

int Standings::points_against(int player, int opponent) const {
  if (player < opponent) return pairs_[pair_index(player, opponent)] & 3;
  return pairs_[pair_index(opponent, player)] >> 2;
}

}  // namespace league::league_manager
