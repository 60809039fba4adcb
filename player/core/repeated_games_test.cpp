#include "player/core/repeated_games.h"

#include <gtest/gtest.h>

#include "game/games.h"
#include "tests/support/scripted_random.h"

namespace league::player {
namespace {

using Pairs = std::vector<Meeting>;

/// What `strategy` chooses at `side` of a game after these meetings, as it was told of them.
std::string after(const char* strategy, const char* game, const Pairs& pairs,
                  game::Side side = game::Side::kA) {
  testing::ScriptedRandom random;
  const MatchHistory history;
  const auto rules = *game::Games::standard().find(game);
  const auto made = make_strategy(strategy, *rules, random);
  return std::string((*made)({.league_id = core::LeagueId("league"),
                              .match_id = core::MatchId("R9M1"),
                              .opponent_id = core::PlayerId("P02"),
                              .history = history,
                              .told = pairs,
                              .side = side}));
}

constexpr const char* kDilemma = "prisoners_dilemma";
const Meeting kBothCooperate{"cooperate", "cooperate"};
const Meeting kExploited{"cooperate", "defect"};
const Meeting kBothDefect{"defect", "defect"};

TEST(TitForTat, BeginsWithTheFirstWordAndThenCopies) {
  EXPECT_EQ(after("tit_for_tat", kDilemma, {}), "cooperate");
  EXPECT_EQ(after("tit_for_tat", kDilemma, {kBothCooperate, kExploited}), "defect");
  EXPECT_EQ(after("tit_for_tat", kDilemma, {kExploited, kBothCooperate}), "cooperate");
}

TEST(WinStayLoseShift, StaysAfterAGoodPayoffOnly) {
  EXPECT_EQ(after("win_stay_lose_shift", kDilemma, {}), "cooperate");
  EXPECT_EQ(after("win_stay_lose_shift", kDilemma, {kBothCooperate}), "cooperate");
  EXPECT_EQ(after("win_stay_lose_shift", kDilemma, {kExploited}), "defect");
  EXPECT_EQ(after("win_stay_lose_shift", kDilemma, {kBothDefect}), "cooperate");
  EXPECT_EQ(after("win_stay_lose_shift", kDilemma, {{"defect", "cooperate"}}), "defect");
  // Player A wins with equal words, player B with different ones.
  EXPECT_EQ(after("win_stay_lose_shift", "matching_pennies", {{"tails", "tails"}}), "tails");
  EXPECT_EQ(after("win_stay_lose_shift", "matching_pennies", {{"tails", "tails"}}, game::Side::kB),
            "heads");
  EXPECT_EQ(after("win_stay_lose_shift", "even_odd", {{"even", "odd"}}), "even");
  EXPECT_EQ(after("win_stay_lose_shift", "even_odd", {{"even", "even"}}), "odd");
}

TEST(Grim, ForgivesNothing) {
  EXPECT_EQ(after("grim", kDilemma, {kBothCooperate, kBothCooperate}), "cooperate");
  EXPECT_EQ(after("grim", kDilemma, {kExploited, kBothCooperate, kBothCooperate}), "defect");
}

TEST(Predictors, AnswerWhatIsLikely) {
  const Pairs mostly_rock = {{"rock", "rock"}, {"rock", "paper"}, {"rock", "rock"}};
  EXPECT_EQ(after("frequency", "rock_paper_scissors", mostly_rock), "paper");
  // After rock against rock it chose paper.
  EXPECT_EQ(after("markov", "rock_paper_scissors", mostly_rock), "scissors");
  EXPECT_EQ(after("frequency", kDilemma, {kBothCooperate}), "defect") << "it is better in any case";
  EXPECT_EQ(after("frequency", "matching_pennies", {{"heads", "tails"}}), "tails");
  EXPECT_EQ(after("frequency", "matching_pennies", {{"heads", "tails"}}, game::Side::kB), "heads");
}

/// The own memory counts, unless a player is told of more.
TEST(RepeatedGames, RememberAsWellAsTheyAreTold) {
  testing::ScriptedRandom random;
  const auto rules = *game::Games::standard().find(kDilemma);
  const auto made = make_strategy("tit_for_tat", *rules, random);
  MatchHistory history;
  history.add({.league_id = core::LeagueId("league"),
               .match_id = core::MatchId("R1M1"),
               .opponent_id = core::PlayerId("P02"),
               .own_choice = "cooperate",
               .opponent_choice = "defect"});
  StrategyInput input{.league_id = core::LeagueId("league"),
                      .match_id = core::MatchId("R2M1"),
                      .opponent_id = core::PlayerId("P02"),
                      .history = history};
  EXPECT_EQ((*made)(input), "defect");
  input.told = {kExploited};
  EXPECT_EQ((*made)(input), "defect");
  input.told = {kExploited, kBothCooperate};
  EXPECT_EQ((*made)(input), "cooperate");
  input.told = {{"no word", "of the game"}, {"at", "all"}};
  EXPECT_EQ((*made)(input), "cooperate") << "as at the beginning";
}

}  // namespace
}  // namespace league::player
