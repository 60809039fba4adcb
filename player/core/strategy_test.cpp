#include "player/core/strategy.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

#include "tests/support/scripted_random.h"

namespace league::player {
namespace {

using Words = std::vector<std::string_view>;

const std::string kE = "even";
const std::string kO = "odd";
const core::LeagueId kLeagueHere("league_test");
const core::PlayerId kUs("P01");
const core::PlayerId kThem("P02");

const game::Definition& rules() { return *game::even_odd(); }

/// A player with its own memory.
class Bot {
 public:
  Bot(std::string_view strategy, core::RandomSource& random)
      : strategy_(std::move(make_strategy(strategy, rules(), random).value())) {}

  std::string choose(const core::PlayerId& opponent = kThem) const {
    return std::string(strategy_({.league_id = kLeagueHere,
                                  .match_id = core::MatchId("R1M1"),
                                  .round_id = 1,
                                  .opponent_id = opponent,
                                  .history = history,
                                  .standings = std::nullopt}));
  }
  void remember(const std::string& own, const std::string& theirs, int number,
                const core::PlayerId& opponent = kThem) {
    history.add({.league_id = kLeagueHere,
                 .match_id = core::MatchId(std::to_string(++played_)),
                 .opponent_id = opponent,
                 .own_choice = own,
                 .opponent_choice = theirs,
                 .drawn_number = number});
  }

  MatchHistory history;

 private:
  Strategy strategy_;
  int played_ = 0;
};

int points(const std::string& own, const std::string& theirs, int number) {
  return rules().payoffs({{own, theirs}}, number)[game::Side::kA];
}

/// Mean points per match of `first` against `second`.
double mean_points(std::string_view first, std::string_view second) {
  constexpr int kMatches = 3'000;
  testing::ScriptedRandom random(7);
  testing::ScriptedRandom draws(11);
  Bot a(first, random);
  Bot b(second, random);
  double total = 0;
  for (int i = 0; i < kMatches; ++i) {
    const int number = 1 + draws.bytes<1>()[0] % 10;
    const std::string x = a.choose(kThem);
    const std::string y = b.choose(kUs);
    a.remember(x, y, number, kThem);
    b.remember(y, x, number, kUs);
    total += points(x, y, number);
  }
  return total / kMatches;
}

TEST(Strategy, ConstantsNeverChange) {
  testing::ScriptedRandom random;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Bot("even", random).choose(), kE);
    EXPECT_EQ(Bot("odd", random).choose(), kO);
  }
}

TEST(Strategy, AlternateTurnsWithEachMatchThatIsRemembered) {
  testing::ScriptedRandom random;
  Bot bot("alternate", random);
  EXPECT_EQ(bot.choose(), kE);
  EXPECT_EQ(bot.choose(), kE) << "asked again in the same match";
  bot.remember(kE, kE, 1);
  EXPECT_EQ(bot.choose(), kO);
  bot.remember(kO, kE, 1);
  EXPECT_EQ(bot.choose(), kE);
}

TEST(Strategy, RandomIsBalancedAndFollowsItsSource) {
  testing::ScriptedRandom random(3);
  testing::ScriptedRandom same(3);
  const Bot bot("random", random);
  const Bot twin("random", same);
  int even = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string choice = bot.choose();
    ASSERT_EQ(choice, twin.choose());
    even += choice == kE ? 1 : 0;
  }
  EXPECT_NEAR(even, 5'000, 200);  // four standard deviations
}

TEST(Strategy, FrequencyFollowsWhatWasDrawnMoreOften) {
  testing::ScriptedRandom random;
  Bot bot("frequency", random);
  bot.remember(kE, kE, 3);
  EXPECT_EQ(bot.choose(), kO);
  bot.remember(kE, kE, 4);
  bot.remember(kE, kE, 10);
  EXPECT_EQ(bot.choose(), kE);
}

TEST(Strategy, OppositeForgetsOtherOpponentsAndOtherLeagues) {
  testing::ScriptedRandom random;
  Bot bot("opposite", random);
  for (int i = 0; i < 5; ++i) bot.remember(kE, kO, 1, core::PlayerId("P09"));
  bot.history.add({.league_id = core::LeagueId("another"),
                   .match_id = core::MatchId("R1M1"),
                   .opponent_id = kThem,
                   .opponent_choice = kO});
  bot.remember(kE, kE, 1, kThem);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(bot.choose(kThem), kO);
}

TEST(Strategy, OppositeScoresMoreThanADrawPerMatch) {
  // Different choices give 3 to one of the two by an even chance: 1.5 points a match. Four standard
  // errors are 0.11.
  EXPECT_NEAR(mean_points("opposite", "even"), 1.5, 0.11);
  EXPECT_NEAR(mean_points("opposite", "odd"), 1.5, 0.11);
  EXPECT_NEAR(mean_points("opposite", "alternate"), 1.5, 0.11);
}

TEST(Strategy, OppositeGainsNothingAgainstChance) {
  // Half of the matches are draws (1), half are decided (1.5 on average).
  EXPECT_NEAR(mean_points("opposite", "random"), 1.25, 0.09);
  EXPECT_NEAR(mean_points("random", "random"), 1.25, 0.09);
}

TEST(Strategy, EqualChoicesAreWorthOnePoint) { EXPECT_EQ(mean_points("even", "even"), 1.0); }

TEST(PredictNext, SeesConstantsAlternationsAndMajorities) {
  EXPECT_EQ(predict_next(rules(), Words{}), std::nullopt);
  EXPECT_EQ(predict_next(rules(), Words{kE}), kE);
  EXPECT_EQ(predict_next(rules(), Words{kO, kO}), kO);
  EXPECT_EQ(predict_next(rules(), Words{kE, kO}), kE);
  EXPECT_EQ(predict_next(rules(), Words{kE, kO, kE}), kO);
  EXPECT_EQ(predict_next(rules(), Words{kE, kE, kO}), kE);
  EXPECT_EQ(predict_next(rules(), Words{kE, kE, kO, kO}), std::nullopt);
}

TEST(Strategy, EachPlaysAnyGame) {
  const game::Definition& signs = **game::Games::standard().find("rock_paper_scissors");
  testing::ScriptedRandom random;
  MatchHistory history;
  history.add({.league_id = kLeagueHere,
               .match_id = core::MatchId("R1M1"),
               .opponent_id = kThem,
               .own_choice = "scissors",
               .opponent_choice = "paper",
               .drawn_number = 4});
  for (std::string_view name : known_strategies(signs)) {
    auto strategy = make_strategy(name, signs, random);
    ASSERT_TRUE(strategy) << name;
    std::set<std::string_view> chosen;
    for (int i = 0; i < 200; ++i) {
      chosen.insert((*strategy)({.league_id = kLeagueHere,
                                 .match_id = core::MatchId("R2M1"),
                                 .opponent_id = kThem,
                                 .history = history}));
    }
    const std::set<std::string_view> all = {"rock", "paper", "scissors"};
    std::set<std::string_view> expected = {name};  // of a constant one
    if (name == "random") expected = all;
    if (name == "alternate") expected = {"rock"};  // after scissors
    if (name == "opposite") expected = {"rock", "scissors"};  // anything but paper
    if (name == "frequency" || name == "markov") expected = {"scissors"};  // they beat paper
    if (name == "tit_for_tat") expected = {"paper"};
    if (name == "win_stay_lose_shift") expected = {"scissors"};  // they have won
    if (name == "grim") expected = all;  // no choice leaves the opponent less than the others
    EXPECT_EQ(chosen, expected) << name;
  }
  EXPECT_FALSE(make_strategy("even", signs, random));
  EXPECT_EQ(predict_next(signs, {"scissors", "rock", "paper"}), "scissors");
  EXPECT_EQ(predict_next(signs, {"paper", "rock", "rock"}), "rock");
}

TEST(MakeStrategy, MakesEveryNameThatItLists) {
  testing::ScriptedRandom random;
  EXPECT_EQ(known_strategies(), (std::vector<std::string_view>{
                                    "random", "even", "odd", "alternate", "frequency", "opposite",
                                    "tit_for_tat", "win_stay_lose_shift", "grim", "markov"}));
  for (std::string_view name : known_strategies())
    EXPECT_TRUE(make_strategy(name, rules(), random)) << name;
}

TEST(MakeStrategy, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  testing::ScriptedRandom random;
  const auto strategy = make_strategy("clever", rules(), random);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(
      strategy.error().message,
      "strategy \"clever\" is unknown; known strategies: random, even, odd, alternate, frequency, "
      "opposite, tit_for_tat, win_stay_lose_shift, grim, markov.");
}

}  // namespace
}  // namespace league::player
