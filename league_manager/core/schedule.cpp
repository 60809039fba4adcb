#include "league_manager/core/schedule.h"

#include <algorithm>

namespace league::league_manager {

// The circle has an odd number of places. In round r (from 0) the players x and y with x + y = 2r
// (mod circle) meet; the one left over, x = r, meets the player outside the circle, or has a bye if
// there is none.

Schedule::Schedule(int players)
    : players_(players), circle_(players < 2 ? 0 : (players % 2 == 0 ? players - 1 : players)) {}

std::size_t Schedule::total_matches() const {
  return static_cast<std::size_t>(rounds()) * static_cast<std::size_t>(matches_per_round());
}

bool Schedule::contains(MatchKey match) const {
  return match.round >= 1 && match.round <= rounds() && match.number >= 1 &&
         match.number <= matches_per_round();
}

Pairing Schedule::pairing(MatchKey match) const {
  int middle = match.round - 1;
  // With an even count, match 1 is the one against the player outside the circle.
  int distance = players_ % 2 == 0 ? match.number - 1 : match.number;
  if (distance == 0) return with_roles(middle, players_ - 1);
  return with_roles((middle + distance) % circle_, (middle - distance + circle_) % circle_);
}

std::vector<Pairing> Schedule::round(int round) const {
  std::vector<Pairing> pairings;
  pairings.reserve(static_cast<std::size_t>(matches_per_round()));
  for (int number = 1; number <= matches_per_round(); ++number)
    pairings.push_back(pairing({round, number}));
  return pairings;
}

std::optional<MatchKey> Schedule::match_of(int player, int round) const {
  int middle = round - 1;
  bool even = players_ % 2 == 0;
  if (even && player == players_ - 1) return MatchKey{round, 1};
  int around = (player - middle + circle_) % circle_;
  int distance = std::min(around, circle_ - around);
  if (distance == 0 && !even) return std::nullopt;
  return MatchKey{round, even ? distance + 1 : distance};
}

Pairing Schedule::with_roles(int x, int y) const {
  bool x_is_a = true;
  if (y == players_ - 1 && players_ % 2 == 0) {
    x_is_a = x % 2 == 0;  // the player outside the circle changes its role from round to round
  } else {
    // The circle is odd, so of the two ways around from x to y exactly one is odd: half of a
    // player's opponents each.
    x_is_a = ((y - x + circle_) % circle_) % 2 == 1;
  }
  return x_is_a ? Pairing{x, y} : Pairing{y, x};
}

}  // namespace league::league_manager
