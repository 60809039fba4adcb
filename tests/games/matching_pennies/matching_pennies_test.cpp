#include "tests/games/matching_pennies/matching_pennies.h"

#include <gtest/gtest.h>

#include "game/judge.h"
#include "tests/games/registry.h"

namespace league::testing {
namespace {

using game::Aspect;
using game::Outcome;

const game::Bindings kUnbound{};

game::MatchFacts facts() {
  return {"R1M1", {{"P01", "P02"}}, game::draw_commitment(game::Seed{}, "R1M1")};
}

/// P01 says heads and P02 tails: B wins.
game::Claim honest() {
  game::Claim claim;
  claim.winner = "P02";
  claim.score = {{"P01", 0}, {"P02", 3}};
  claim.choices = {{"P01", "heads"}, {"P02", "tails"}};
  claim.seed = core::to_hex(game::Seed{});
  return claim;
}

std::vector<game::Contradiction> found(const game::Claim& claim) {
  return game::judge(MatchingPennies(), facts(), claim).contradictions;
}

TEST(MatchingPennies, IsInTheRegistryOfTests) {
  const auto rules = games_with_tests().find("matching_pennies");
  ASSERT_TRUE(rules);
  EXPECT_TRUE((*rules)->check_choice("heads"));
  EXPECT_FALSE((*rules)->check_choice("even"));
  EXPECT_FALSE(game::standard_games().find("matching_pennies")) << "the product does not know it";
}

TEST(MatchingPennies, AWinsWithEqualWordsAndNothingIsDrawn) {
  for (const char* a : {"heads", "tails"}) {
    for (const char* b : {"heads", "tails"}) {
      const game::Choices choices{{a, b}};
      const auto played = game::play(
          MatchingPennies(),
          {.seed = game::Seed{}, .match_id = "R1M1", .choices = choices, .bindings = kUnbound});
      EXPECT_EQ(played.result.outcome, choices[game::Side::kA] == choices[game::Side::kB]
                                           ? Outcome::kPlayerAWins
                                           : Outcome::kPlayerBWins);
      EXPECT_EQ(played.result.drawn_number, std::nullopt);
    }
  }
}

TEST(MatchingPennies, IsJudgedByTheSameJudge) {
  EXPECT_TRUE(found(honest()).empty());
  auto lie = honest();
  lie.drawn_number = 4;
  EXPECT_EQ(found(lie).at(0).aspect, Aspect::kNumber);
  lie = honest();
  lie.number_kind = "heads";
  EXPECT_EQ(found(lie).at(0).aspect, Aspect::kNumber);
  lie = honest();
  lie.winner = "P01";
  lie.score = {{"P01", 3}, {"P02", 0}};
  EXPECT_EQ(found(lie).at(0).aspect, Aspect::kWinner);
  lie = honest();
  lie.choices[0].second = "even";
  EXPECT_EQ(found(lie).at(0).aspect, Aspect::kChoice);
}

}  // namespace
}  // namespace league::testing
