#include "league_manager/core/assignment.h"

#include <gtest/gtest.h>

namespace league::league_manager {
namespace {

using Places = std::vector<RefereePlace>;

std::vector<int> counts(const std::vector<int>& plan, std::size_t referees) {
  std::vector<int> counts(referees);
  for (int referee : plan) ++counts[static_cast<std::size_t>(referee)];
  return counts;
}

TEST(PlanRound, SharesEvenly) {
  EXPECT_EQ(counts(plan_round(8, Places{{10, true}, {50, true}}, std::vector{0, 0}), 2),
            (std::vector{4, 4}));
  EXPECT_EQ(counts(plan_round(7, Places{{1, true}, {1, true}, {1, true}}, std::vector{0, 0, 0}), 3),
            (std::vector{3, 2, 2}));
}

TEST(PlanRound, KeepsToTheCapacitiesAndThenToTheirProportion) {
  EXPECT_EQ(counts(plan_round(11, Places{{1, true}, {10, true}}, std::vector{0, 0}), 2),
            (std::vector{1, 10}));
  EXPECT_EQ(counts(plan_round(110, Places{{1, true}, {10, true}}, std::vector{0, 0}), 2),
            (std::vector{10, 100}));
}

TEST(PlanRound, EvensOutOverRounds) {
  EXPECT_EQ(plan_round(1, Places{{1, true}, {1, true}}, std::vector{1, 0}), (std::vector{1}));
}

TEST(PlanRound, LeavesOutWhoIsNotActive) {
  EXPECT_EQ(plan_round(2, Places{{1, false}, {1, true}}, std::vector{0, 0}), (std::vector{1, 1}));
  EXPECT_EQ(plan_round(2, Places{{1, false}}, std::vector{0}), (std::vector{-1, -1}));
}

/// A round of matches planned for the given referees.
RoundBoard board(const std::vector<int>& planned, int referees) {
  RoundBoard board(referees, game::even_odd());
  board.apply(
      {{}, events::RoundStarted{1, std::vector<events::DrawSeed>(planned.size()), planned}});
  return board;
}

TEST(NextAssignments, FillsThePlannedPlaces) {
  Places places{{2, true}, {1, true}};
  EXPECT_EQ(next_assignments(board({0, 1, 0, 1, 0}, 2), places),
            (std::vector<Placement>{{{1, 1}, 0}, {{1, 2}, 1}, {{1, 3}, 0}}));
}

TEST(NextAssignments, GivesNoPlaceToASlowMatchWhileAnotherOneWaits) {
  const auto is_slow = [](events::MatchKey match) { return match.number < 3; };
  EXPECT_EQ(next_assignments(board({0, 0, 0, 0, 0}, 1), Places{{4, true}}, {}, is_slow),
            (std::vector<Placement>{{{1, 3}, 0}, {{1, 4}, 0}, {{1, 5}, 0}, {{1, 1}, 0}}));
}

TEST(NextAssignments, LetsAFreeRefereeTakeAnothersMatch) {
  Places places{{1, true}, {2, true}};
  EXPECT_EQ(next_assignments(board({0, 0, 0, 0}, 2), places),
            (std::vector<Placement>{{{1, 1}, 0}, {{1, 2}, 1}, {{1, 3}, 1}}));
}

TEST(NextAssignments, GivesNothingToWhoIsNotActiveOrFull) {
  EXPECT_TRUE(next_assignments(board({0, 0}, 1), Places{{5, false}}).empty());
  auto full = board({0, 0}, 1);
  full.apply({{}, events::MatchAssigned{{1, 1}, 1, 0, {}}});
  EXPECT_TRUE(next_assignments(full, Places{{1, true}}).empty());
}

TEST(NextAssignments, GivesALostMatchToAnotherRefereeIfThereIsOne) {
  auto lost = board({0}, 2);
  lost.apply({{}, events::MatchAssigned{{1, 1}, 1, 0, {}}});
  lost.apply({{}, events::MatchReleased{{1, 1}, 1, "LOST", false}});
  EXPECT_EQ(next_assignments(lost, Places{{1, true}, {1, true}}),
            (std::vector<Placement>{{{1, 1}, 1}}));
  EXPECT_EQ(next_assignments(lost, Places{{1, true}, {1, false}}),
            (std::vector<Placement>{{{1, 1}, 0}}));
}

}  // namespace
}  // namespace league::league_manager
