#include "league_manager/events/compact_result.h"

#include <gtest/gtest.h>

#include "game/games.h"

namespace league::league_manager::events {
namespace {

game::MatchResult won_by_a() {
  game::MatchResult result;
  result.outcome = game::Outcome::kPlayerAWins;
  result.drawn_number = 4;
  result.choices = {{"even", "odd"}};
  return result;
}

bool is_same(const game::MatchResult& a, const game::MatchResult& b) {
  return CompactResult::of(a, *game::even_odd())
      .same_result(CompactResult::of(b, *game::even_odd()));
}

TEST(CompactResult, TellsResultsApart) {
  const game::MatchResult base = won_by_a();
  EXPECT_TRUE(is_same(base, won_by_a()));
  auto other = base;
  other.drawn_number = 6;
  EXPECT_FALSE(is_same(base, other));
  other = base;
  other.choices[game::Side::kA].reset();
  EXPECT_FALSE(is_same(base, other));
  other = base;
  std::swap(other.choices.both[0], other.choices.both[1]);
  EXPECT_FALSE(is_same(base, other));
  other = base;
  other.technical_reason = "X";
  EXPECT_FALSE(is_same(base, other));
  other = base;
  other.outcome = game::Outcome::kDraw;
  EXPECT_FALSE(is_same(base, other));
}

TEST(CompactResult, IsSmall) {
  static_assert(sizeof(CompactResult) <= 24,
                "a league of 1,000 players keeps half a million of them");
  EXPECT_FALSE(CompactResult::of(won_by_a(), *game::even_odd()).is_technical());
}

}  // namespace
}  // namespace league::league_manager::events
