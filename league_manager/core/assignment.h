#pragma once

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

/// Plans a round: one referee for each of `matches` matches, evenly as far as the capacities allow,
/// then in proportion to them. `totals` (matches so far, by referee) decides between equals, so
/// that odd rounds even out. -1 where no referee is active.
[[nodiscard]] std::vector<int> plan_round(int matches, std::span<const RefereePlace> referees,
                                          std::span<const int> totals);

/// The pending matches that can start now: each goes to its planned referee if that has a free
/// place, otherwise to the least loaded referee with one. A match that was taken from a referee
/// goes to another one as long as there is any.
[[nodiscard]] std::vector<Placement> next_assignments(const RoundBoard& board,
                                                      std::span<const RefereePlace> referees);

}  // namespace league::league_manager
