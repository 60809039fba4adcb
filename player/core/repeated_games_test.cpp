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

/// A player that remembers one meeting, in which it was exploited, and is told `told`.
std::string told(const Pairs& told, std::optional<int> meeting) {
  testing::ScriptedRandom random;
  const auto rules = *game::Games::standard().find(kDilemma);
  const auto made = make_strategy("tit_for_tat", *rules, random);
  MatchHistory history;
  history.add({.league_id = core::LeagueId("league"),
               .match_id = core::MatchId("R1M1"),
               .opponent_id = core::PlayerId("P02"),
               .own_choice = "cooperate",
               .opponent_choice = "defect"});
  return std::string((*made)({.league_id = core::LeagueId("league"),
                              .match_id = core::MatchId("R2M1"),
                              .opponent_id = core::PlayerId("P02"),
                              .history = history,
                              .told = told,
                              .meeting = meeting}));
}

TEST(RepeatedGames, AreToldOfMeetingsThatTheyMissed) {
  EXPECT_EQ(told({}, 2), "defect") << "the own memory";
  EXPECT_EQ(told({kExploited}, 2), "defect");
  EXPECT_EQ(told({kExploited, kBothCooperate}, 3), "cooperate");
  EXPECT_EQ(told({kBothCooperate, kExploited, kBothDefect, kBothCooperate}, 5), "cooperate");
  EXPECT_EQ(told({kExploited, kBothCooperate}, {}), "cooperate") << "it need not say the meeting";
  EXPECT_EQ(told({kExploited, {"no word", "of the game"}}, 3), "defect");
}

TEST(RepeatedGames, DoNotBelieveWhatCannotBe) {
  EXPECT_EQ(told({kExploited, kBothCooperate}, 2), "defect") << "more meetings than there were";
  EXPECT_EQ(told({kExploited, kBothCooperate}, 1), "defect");
  EXPECT_EQ(told({kExploited, kBothCooperate}, -1), "defect");
  EXPECT_EQ(told({kBothCooperate, kBothCooperate}, 3), "defect") << "not what it remembers";
  EXPECT_EQ(told({kBothCooperate}, 2), "defect");
}

}  // namespace
}  // namespace league::player
