#include "league_manager/core/schedule.h"

#include <algorithm>
#include <utility>

namespace league::league_manager {

// The circle has an odd number of places. In round r (from 0) the players x and y with x + y = 2r
// (mod circle) meet; the one left over, x = r, meets the player outside the circle, or has a bye if
// there is none.

Schedule::Schedule(int players, std::vector<int> absent, int meetings)
    : players_(players),
      circle_(players < 2 ? 0 : (players % 2 == 0 ? players - 1 : players)),
      meetings_(meetings),
      absent_(std::move(absent)) {}

int Schedule::player_at(int place) const {
  int player = place;
  for (int absent : absent_) {
    if (absent <= player) ++player;
  }
  return player;
}

int Schedule::place_of(int player) const {
  return player - static_cast<int>(std::ranges::lower_bound(absent_, player) - absent_.begin());
}

std::size_t Schedule::total_matches() const {
  std::size_t total = regular_matches();
  for (const auto& round : replays_) total += round.size();
  return total;
}

int Schedule::matches_in(int round) const {
  return round <= regular_rounds() ? players_ / 2
                                   : static_cast<int>(replays_[replay_round(round)].size());
}

events::MatchKey Schedule::match_at(std::size_t index) const {
  if (index < regular_matches()) {
    const auto in_each = static_cast<std::size_t>(players_ / 2);
    return {static_cast<int>(index / in_each) + 1, static_cast<int>(index % in_each) + 1};
  }
  index -= regular_matches();
  int round = regular_rounds() + 1;
  for (; index >= replays_[replay_round(round)].size(); ++round)
    index -= replays_[replay_round(round)].size();
  return {round, static_cast<int>(index) + 1};
}

std::size_t Schedule::index_of(events::MatchKey match) const {
  const auto place = static_cast<std::size_t>(match.number - 1);
  if (match.round <= regular_rounds())
    return static_cast<std::size_t>(match.round - 1) * static_cast<std::size_t>(players_ / 2) +
           place;
  std::size_t index = regular_matches() + place;
  for (int round = regular_rounds() + 1; round < match.round; ++round)
    index += replays_[replay_round(round)].size();
  return index;
}

events::MatchKey Schedule::next_replay(events::MatchKey match, int round) const {
  const Pairing players = pairing(match);
  int next = std::max(round, regular_rounds()) + 1;
  while (next <= rounds() && (match_of(players.player_a, next) || match_of(players.player_b, next)))
    ++next;
  return {next, next <= rounds() ? matches_in(next) + 1 : 1};
}

void Schedule::add_replay(events::MatchKey match, int round) {
  const events::MatchKey replay = next_replay(match, round);
  if (replay.round > rounds()) replays_.emplace_back();
  replays_[replay_round(replay.round)].push_back(match);
}

std::optional<events::MatchKey> Schedule::replay_of(events::MatchKey match) const {
  if (match.round <= regular_rounds()) return std::nullopt;
  return replays_[replay_round(match.round)][static_cast<std::size_t>(match.number - 1)];
}

int Schedule::meeting_of(events::MatchKey match) const {
  if (const auto original = replay_of(match)) return meeting_of(*original);
  return (match.round - 1) / circle_ + 1;
}

std::vector<events::MatchKey> Schedule::earlier_matches(events::MatchKey match) const {
  events::MatchKey first = match;
  while (const auto original = replay_of(first)) first = *original;
  first.round = (first.round - 1) % circle_ + 1;
  const Pairing players = pairing(first);
  std::vector<events::MatchKey> earlier;
  for (auto one = first; one.round < std::min(match.round, regular_rounds() + 1);
       one.round += circle_)
    earlier.push_back(one);
  for (int round = regular_rounds() + 1; round < match.round; ++round) {
    const auto played = match_of(players.player_a, round);
    if (played && pairing(*played).has(players.player_b)) earlier.push_back(*played);
  }
  return earlier;
}

bool Schedule::contains(events::MatchKey match) const {
  return match.round >= 1 && match.round <= rounds() && match.number >= 1 &&
         match.number <= matches_in(match.round);
}

Pairing Schedule::pairing(events::MatchKey match) const {
  if (const auto original = replay_of(match)) return pairing(*original);
  const int meeting = (match.round - 1) / circle_;
  if (meeting > 0) {  // from one meeting to the next, the roles change
    const Pairing first = pairing({match.round - meeting * circle_, match.number});
    return meeting % 2 == 0 ? first : Pairing{first.player_b, first.player_a};
  }
  int middle = match.round - 1;
  // With an even count, match 1 is the one against the player outside the circle.
  int distance = players_ % 2 == 0 ? match.number - 1 : match.number;
  if (distance == 0) return with_roles(middle, players_ - 1);
  return with_roles((middle + distance) % circle_, (middle - distance + circle_) % circle_);
}

std::vector<Pairing> Schedule::round(int round) const {
  std::vector<Pairing> pairings;
  pairings.reserve(static_cast<std::size_t>(matches_in(round)));
  for (int number = 1; number <= matches_in(round); ++number)
    pairings.push_back(pairing({round, number}));
  return pairings;
}

std::optional<events::MatchKey> Schedule::match_of(int player, int round) const {
  if (round > regular_rounds()) {
    for (events::MatchKey match{round, 1}; match.number <= matches_in(round); ++match.number) {
      if (pairing(match).has(player)) return match;
    }
    return std::nullopt;
  }
  if (std::ranges::binary_search(absent_, player)) return std::nullopt;
  const int place = place_of(player);
  int middle = (round - 1) % circle_;
  bool even = players_ % 2 == 0;
  if (even && place == players_ - 1) return events::MatchKey{round, 1};
  int around = (place - middle + circle_) % circle_;
  int distance = std::min(around, circle_ - around);
  if (distance == 0 && !even) return std::nullopt;
  return events::MatchKey{round, even ? distance + 1 : distance};
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
  return x_is_a ? Pairing{player_at(x), player_at(y)} : Pairing{player_at(y), player_at(x)};
}

}  // namespace league::league_manager
