#include "league_manager/core/round_board.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace league::league_manager {
namespace {

constexpr int kReferees = 3;

RoundBoard board_of(std::size_t matches) {
  RoundBoard board(kReferees, game::even_odd());
  board.apply({{},
               events::RoundStarted{1, std::vector<events::DrawSeed>(matches),
                                    std::vector<int>(matches, 0)}});
  return board;
}

/// What the board must say without its lists.
std::vector<events::MatchKey> pending_by_looking(const RoundBoard& board, bool again) {
  std::vector<events::MatchKey> found;
  for (int number = 1; number <= board.matches(); ++number) {
    const auto& slot = board.slot({1, number});
    if (slot.status == MatchStatus::kPending && (!again || slot.attempts > 0))
      found.push_back({1, number});
  }
  return found;
}

std::vector<MatchSlot> slots_of(const RoundBoard& board) {
  std::vector<MatchSlot> slots;
  for (int number = 1; number <= board.matches(); ++number)
    slots.push_back(board.slot({1, number}));
  return slots;
}

/// One thing that may happen to the match.
events::Event happening(const RoundBoard& board, events::MatchKey match, core::UtcTimestamp at) {
  const auto& slot = board.slot(match);
  const int next = slot.attempts + 1;
  if (*rc::gen::inRange(0, 10) == 0) return {at, events::LeagueContinued{}};
  if (slot.status == MatchStatus::kPending)
    return *rc::gen::inRange(0, 8) == 0
               ? events::Event{at, events::MatchForfeited{match, game::technical_result(
                                                                     std::nullopt, "ALL")}}
               : events::Event{
                     at, events::MatchAssigned{match, next, *rc::gen::inRange(0, kReferees), {}}};
  const bool is_excused = *rc::gen::inRange(0, 2) == 0;
  if (slot.status == MatchStatus::kAssigned && *rc::gen::inRange(0, 2) == 0)
    return {at, events::MatchReleased{match, slot.attempts, "LOST", is_excused}};
  if (slot.status == MatchStatus::kAssigned)
    return {at, events::MatchReported{match, slot.attempts, slot.referee(),
                                      game::technical_result(game::Side::kA, "SHOWN")}};
  return {at, events::StaleReportRecorded{match, 1, 0}};
}

TEST(RoundBoard, KnowsWhatWaitsWhateverHappens) {
  EXPECT_TRUE(rc::check([] {
    auto board = board_of(static_cast<std::size_t>(*rc::gen::inRange(1, 150)));
    for (int step = 1; step < 300; ++step) {
      const auto copy = board;
      const auto before = slots_of(board);
      const events::MatchKey match{1, *rc::gen::inRange(1, board.matches() + 1)};
      const core::UtcTimestamp at = core::UtcTimestamp{}.after(std::chrono::seconds(step));
      board.apply(happening(board, match, at));
      RC_ASSERT(slots_of(copy) == before);  // it shares nothing that changes
      for (bool again : {false, true}) {
        RC_ASSERT((again ? board.pending_again() : board.with_status(MatchStatus::kPending)) ==
                  pending_by_looking(board, again));
      }
      for (events::MatchKey one : pending_by_looking(board, false))
        RC_ASSERT(board.slot(one).attempts > 0 || board.slot(one).since == board.started_at());
    }
  }));
}

TEST(RoundBoard, TellsBoardsApart) {
  auto one = board_of(100);
  auto other = one;
  EXPECT_EQ(one, other);
  other.apply({{}, events::MatchAssigned{{1, 70}, 1, 2, {}}});
  EXPECT_FALSE(one == other);
  EXPECT_EQ(one.slot({1, 70}).attempts, 0);
  one.apply({{}, events::MatchAssigned{{1, 70}, 1, 2, {}}});
  EXPECT_EQ(one, other);
}

TEST(RoundBoard, BeginsEachRoundAnew) {
  auto board = board_of(3);
  board.apply({{}, events::MatchAssigned{{1, 2}, 1, 0, {}}});
  board.apply({{}, events::MatchReleased{{1, 2}, 1, "LOST", false}});
  board.apply(
      {{}, events::RoundStarted{2, std::vector<events::DrawSeed>(65), std::vector<int>(65, 1)}});
  EXPECT_TRUE(board.pending_again().empty());
  EXPECT_EQ(board.with_status(MatchStatus::kPending).size(), 65u);
  EXPECT_EQ(board.with_status(MatchStatus::kPending).back(), (events::MatchKey{2, 65}));
}

}  // namespace
}  // namespace league::league_manager
