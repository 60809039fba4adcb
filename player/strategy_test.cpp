#include "player/strategy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/scripted_random.h"

namespace league::player {
namespace {

constexpr Parity kE = Parity::kEven;
constexpr Parity kO = Parity::kOdd;
const core::LeagueId kLeagueHere("league_test");
const core::PlayerId kUs("P01");
const core::PlayerId kThem("P02");

/// A player with its own memory.
class Bot {
 public:
  Bot(std::string_view strategy, core::RandomSource& random)
      : strategy_(std::move(make_strategy(strategy, random).value())) {}

  Parity choose(const core::PlayerId& opponent = kThem) const {
    return strategy_->choose({.league_id = kLeagueHere,
                              .match_id = core::MatchId("R1M1"),
                              .round_id = 1,
                              .opponent_id = opponent,
                              .history = history,
                              .standings = std::nullopt});
  }
  void remember(Parity own, Parity theirs, int number, const core::PlayerId& opponent = kThem) {
    history.add({.league_id = kLeagueHere,
                 .match_id = core::MatchId(std::to_string(++played_)),
                 .opponent_id = opponent,
                 .own_choice = own,
                 .opponent_choice = theirs,
                 .drawn_number = number});
  }

  MatchHistory history;

 private:
  std::unique_ptr<Strategy> strategy_;
  int played_ = 0;
};

int points(Parity own, Parity theirs, int number) {
  if (own == theirs) return 1;
  return (own == kE) == (number % 2 == 0) ? 3 : 0;
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
    const Parity x = a.choose(kThem);
    const Parity y = b.choose(kUs);
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
    const Parity choice = bot.choose();
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
  EXPECT_EQ(predict_next({}), std::nullopt);
  EXPECT_EQ(predict_next({kE}), kE);
  EXPECT_EQ(predict_next({kO, kO}), kO);
  EXPECT_EQ(predict_next({kE, kO}), kE);
  EXPECT_EQ(predict_next({kE, kO, kE}), kO);
  EXPECT_EQ(predict_next({kE, kE, kO}), kE);
  EXPECT_EQ(predict_next({kE, kE, kO, kO}), std::nullopt);
}

TEST(MakeStrategy, MakesEveryNameThatItLists) {
  testing::ScriptedRandom random;
  EXPECT_EQ(known_strategies(), (std::vector<std::string_view>{"random", "even", "odd", "alternate",
                                                               "frequency", "opposite"}));
  for (std::string_view name : known_strategies()) EXPECT_TRUE(make_strategy(name, random)) << name;
}

TEST(MakeStrategy, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  testing::ScriptedRandom random;
  const auto strategy = make_strategy("clever", random);
  ASSERT_FALSE(strategy);
  EXPECT_EQ(strategy.error().message,
            "strategy \"clever\" is unknown; known are: random, even, odd, alternate, frequency, "
            "opposite.");
}

}  // namespace
}  // namespace league::player
