#include "game/outcome.h"

#include <gtest/gtest.h>

namespace league::game {
namespace {

TEST(Outcome, NamesAreThoseOfTheJournalAndReadBack) {
  EXPECT_EQ(outcome_name(Outcome::kPlayerAWins), "A");
  EXPECT_EQ(outcome_name(Outcome::kPlayerBWins), "B");
  EXPECT_EQ(outcome_name(Outcome::kDraw), "DRAW");
  EXPECT_EQ(outcome_name(Outcome::kNoWinner), "NONE");
  for (Outcome outcome : kAllOutcomes) EXPECT_EQ(parse_outcome(outcome_name(outcome)), outcome);
  EXPECT_EQ(parse_outcome("a"), std::nullopt);
  EXPECT_EQ(parse_outcome(""), std::nullopt);
}

TEST(Outcome, TheWinnerIsASide) {
  for (Side side : kBothSides) EXPECT_EQ(winner_of(win_of(side)), side);
  EXPECT_EQ(winner_of(Outcome::kDraw), std::nullopt);
  EXPECT_EQ(winner_of(Outcome::kNoWinner), std::nullopt);
}

TEST(Side, NamesAreThoseOfTheProtocol) {
  EXPECT_EQ(side_name(Side::kA), "PLAYER_A");
  EXPECT_EQ(side_name(other(Side::kA)), "PLAYER_B");
  EXPECT_EQ(other(Side::kB), Side::kA);
}

}  // namespace
}  // namespace league::game
