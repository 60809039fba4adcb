#pragma once

#include <functional>
#include <span>
#include <vector>

#include "league_manager/core/round_board.h"

namespace league::league_manager {

/// The facts about a referee that assignment needs.
struct RefereePlace {
  int capacity = 1;
  bool active = true;  ///< may get matches
};

/// A match and the referee that it is assigned to.
struct Placement {
  events::MatchKey match;
  int referee = 0;
  bool operator==(const Placement&) const = default;
};

/// Whether a match and a referee are to be kept apart while another referee is active; empty: none
/// are. The match is one of the round, by its number.
using KeptApart = std::function<bool(int number, int referee)>;

/// Whether a match may take long, because people play in it; empty: none is.
using SlowMatches = std::function<bool(events::MatchKey match)>;

/// Plans a round: one referee for each of `matches` matches. Distributes them evenly as far as the
/// capacities allow, and beyond that in proportion to the capacities. Between referees that are
/// equal in this, the one with fewer matches so far (`totals`, by referee) is chosen, so that
/// uneven rounds balance out. All entries are -1 if no referee is active.
[[nodiscard]] std::vector<int> plan_round(int matches, std::span<const RefereePlace> referees,
                                          std::span<const int> totals,
                                          const KeptApart& kept_apart = {});

/// The pending matches that can start now. Each goes to its planned referee if that referee has a
/// free place, otherwise to the least loaded referee that has one. A match that was taken from a
/// referee, unless this was excused, goes to another referee if another one is active. Slow ones
/// come last, so that no other match waits for the place of one of them.
[[nodiscard]] std::vector<Placement> next_assignments(const RoundBoard& board,
                                                      std::span<const RefereePlace> referees,
                                                      const KeptApart& kept_apart = {},
                                                      const SlowMatches& is_slow = {});

}  // namespace league::league_manager
