#include "game/result.h"

#include <gtest/gtest.h>

#include "game/games.h"

namespace league::game {
namespace {

TEST(Play, DrawsTheNumberAndDecides) {
  // With the seed zero R1M1 draws 4 for even-odd (draw_test.cpp).
  const auto played = play(
      *even_odd(),
      {.seed = Seed{}, .match_id = "R1M1", .choices = {{"even", "odd"}}, .bindings = Bindings{}});
  EXPECT_EQ(played.result.outcome, Outcome::kPlayerAWins);
  EXPECT_EQ(played.result.drawn_number, 4);
  EXPECT_EQ(played.result.choices[Side::kA], "even");
  EXPECT_EQ(played.result.choices[Side::kB], "odd");
  EXPECT_FALSE(played.result.is_technical());
  EXPECT_EQ(played.reason, "The number is 4, which is even: only player A is right.");
}

TEST(TechnicalResult, TheOtherWinsOrBothLose) {
  const auto lost = technical_result(Side::kB, "TIMEOUT_CHOICE", {{std::nullopt, "odd"}});
  EXPECT_EQ(lost.outcome, Outcome::kPlayerBWins);
  EXPECT_EQ(lost.drawn_number, std::nullopt);
  EXPECT_EQ(lost.choices[Side::kB], "odd");
  EXPECT_TRUE(lost.is_technical());
  EXPECT_EQ(technical_result(std::nullopt, "BOTH_FAILED").outcome, Outcome::kNoWinner);
}

}  // namespace
}  // namespace league::game
