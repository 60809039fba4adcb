#include "league_manager/table/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "league_manager/core/league_testing.h"
#include "league_manager/table/davidson.h"
#include "league_manager/table/luck.h"

namespace league::league_manager::table {
namespace {

using game::Outcome;

constexpr double kScale = 400 / std::numbers::ln10;

std::vector<CountedMatch> times(int count, int winner, int loser) {
  return std::vector<CountedMatch>(static_cast<std::size_t>(count),
                                   {winner, loser, Outcome::kPlayerAWins});
}

void add(std::vector<CountedMatch>& to, const std::vector<CountedMatch>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

double uniform(SplitMix& bits) { return static_cast<double>(bits.next() >> 11U) * 0x1p-53; }

/// Every pair plays `meetings` matches, with these strengths and this much weight of a draw.
std::vector<CountedMatch> played(const std::vector<double>& strengths, int meetings, double draw,
                                 SplitMix& bits) {
  std::vector<CountedMatch> matches;
  for (int a = 0; a < static_cast<int>(strengths.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(strengths.size()); ++b) {
      const double half =
          (strengths[static_cast<std::size_t>(a)] - strengths[static_cast<std::size_t>(b)]) / 2;
      const double all = std::exp(half) + std::exp(-half) + draw;
      for (int i = 0; i < meetings; ++i) {
        const double number = uniform(bits) * all;
        matches.push_back({a, b,
                           number < draw                    ? Outcome::kDraw
                           : number < draw + std::exp(half) ? Outcome::kPlayerAWins
                                                            : Outcome::kPlayerBWins});
      }
    }
  }
  return matches;
}

/// Baseball, American League East, 1987: A. Agresti, Categorical Data Analysis, table 10.10 and the
/// fit in section 10.6.1. Wins of the row against the column.
TEST(Figures, FitAPublishedTournament) {
  const char* const kTeams[] = {"Milwaukee", "Detroit",   "Toronto",  "New York",
                                "Boston",    "Cleveland", "Baltimore"};
  constexpr int kWins[7][7] = {{0, 7, 9, 7, 7, 9, 11}, {6, 0, 7, 5, 11, 9, 9},
                               {4, 6, 0, 7, 7, 8, 12}, {6, 8, 6, 0, 6, 7, 10},
                               {6, 2, 6, 7, 0, 7, 12}, {4, 4, 5, 6, 6, 0, 6},
                               {2, 4, 1, 3, 1, 7, 0}};
  // Strengths relative to Baltimore, as published.
  constexpr double kPublished[] = {1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0};
  std::vector<CountedMatch> matches;
  for (int a = 0; a < 7; ++a) {
    for (int b = 0; b < 7; ++b) add(matches, times(kWins[a][b], a, b));
  }
  const auto figures = figures_of(7, matches, "american_league_1987");
  ASSERT_TRUE(figures);
  for (std::size_t i = 0; i < 7; ++i) {
    const double strength = (figures->players[i]->rating - figures->players[6]->rating) / kScale;
    // The prior pulls strengths together, by a tenth of a standard error at most.
    EXPECT_NEAR(strength, kPublished[i], 0.06) << kTeams[i];
    EXPECT_GT(*figures->players[i]->error / kScale, 0.15) << kTeams[i];
    EXPECT_LT(*figures->players[i]->error / kScale, 0.3) << kTeams[i];
  }
  EXPECT_LT(*figures->players[0]->p_first, kDecided) << "Milwaukee was not decided to be the best";
  EXPECT_LT(*figures->luck, 0.01) << "but Baltimore was no equal of the others";
}

/// With one pair, the maximum can be found by hand: the slope of the logarithm of the posterior is
/// zero.
TEST(Figures, AreWhereTheSlopeIsZero) {
  std::vector<CountedMatch> matches = times(6, 0, 1);
  add(matches, times(2, 1, 0));
  matches.push_back({1, 0, Outcome::kDraw});
  const Davidson model(2, matches);
  const double d = model.strengths()[0] - model.strengths()[1];
  EXPECT_NEAR(model.strengths()[0] + model.strengths()[1], 0, 1e-12);
  const double kPrior = std::pow(kScale / 350, 2);
  // Of the draw parameter: found by bisection for this difference.
  double low = -9;
  double high = 9;
  const auto slope_of_draw = [&](double draw) {
    const double all = 2 * std::cosh(d / 2) + std::exp(draw);
    return 1 - 9 * std::exp(draw) / all - draw / 4;
  };
  for (int i = 0; i < 100; ++i)
    (slope_of_draw((low + high) / 2) > 0 ? low : high) = (low + high) / 2;
  const double all = 2 * std::cosh(d / 2) + std::exp(low);
  EXPECT_NEAR(2 - 9 * std::sinh(d / 2) / all - d / 2 * kPrior, 0, 1e-9);
}

TEST(Figures, DoNotDependOnTheOrderOrOnWhoIsA) {
  SplitMix bits(1);
  const auto matches = played({0.5, 0, -0.3, 0.2}, 3, 0.7, bits);
  std::vector<CountedMatch> other(matches.rbegin(), matches.rend());
  for (CountedMatch& match : other) {
    std::swap(match.player_a, match.player_b);
    if (match.outcome == Outcome::kDraw) continue;
    match.outcome =
        match.outcome == Outcome::kPlayerAWins ? Outcome::kPlayerBWins : Outcome::kPlayerAWins;
  }
  const auto one = figures_of(4, matches, "x");
  const auto two = figures_of(4, other, "x");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(one->players[i]->rating, two->players[i]->rating, 1e-6);
    EXPECT_NEAR(*one->players[i]->error, *two->players[i]->error, 1e-6);
    EXPECT_NEAR(*one->players[i]->p_first, *two->players[i]->p_first, 5e-4);
  }
}

TEST(Figures, OfExtremesAreFinite) {
  for (const auto& matches : {times(100, 0, 1), std::vector<CountedMatch>(50, {0, 1}),
                              times(1, 1, 0), std::vector<CountedMatch>(1, {1, 0})}) {
    const auto figures = figures_of(2, matches, "x");
    for (const auto& one : figures->players) {
      EXPECT_TRUE(std::isfinite(one->rating) && std::abs(one->rating - 1500) < 1000) << one->rating;
      EXPECT_TRUE(*one->error > 0 && *one->error < 350) << *one->error;
    }
    EXPECT_NEAR(figures->players[0]->rating + figures->players[1]->rating, 3000, 1e-6);
  }
  const auto nothing = figures_of(3, {}, "x");
  EXPECT_EQ(nothing->luck, std::nullopt);
  EXPECT_FALSE(nothing->players[0]);
}

TEST(Figures, SayNothingOfPlayersWithoutAMatch) {
  const auto figures = figures_of(3, times(2, 0, 2), "x");
  EXPECT_FALSE(figures->players[1]);
  EXPECT_NEAR(figures->players[0]->rating + figures->players[2]->rating, 3000, 1e-6);
  EXPECT_NEAR(*figures->players[0]->p_first + *figures->players[2]->p_first, 1, 1e-9);
}

/// 95 of 100 intervals contain the true strength, whatever the number of draws.
TEST(Figures, IntervalsCoverTheTruth) {
  SplitMix bits(2026);
  int inside = 0;
  int all = 0;
  for (const auto& [players, meetings, draw] :
       {std::tuple(8, 4, 1.0), std::tuple(20, 1, 2.0), std::tuple(12, 3, 0.0001)}) {
    for (int league = 0; league < 60; ++league) {
      std::vector<double> strengths;
      for (int i = 0; i < players; ++i)
        strengths.push_back(std::sqrt(-2 * std::log(1 - uniform(bits))) *
                            std::cos(2 * std::numbers::pi * uniform(bits)) * 200 / kScale);
      const double mean = std::accumulate(strengths.begin(), strengths.end(), 0.0) / players;
      const Davidson model(strengths.size(), played(strengths, meetings, draw, bits));
      const auto errors = model.errors(model.factor({}), {});
      for (std::size_t i = 0; i < strengths.size(); ++i) {
        const double off = model.strengths()[i] - (strengths[i] - mean);
        inside += std::abs(off) <= 1.96 * errors[i] ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_GE(inside, 0.93 * all) << inside << " of " << all;
  EXPECT_LE(inside, 0.97 * all) << inside << " of " << all;
}

TEST(Luck, OfThreePlayersIsKnown) {
  // One win each in a circle is what happens in 2 of 8 leagues of equal players, a strict order in
  // the others.
  const std::vector<CountedMatch> circle{
      {0, 1, Outcome::kPlayerAWins}, {1, 2, Outcome::kPlayerAWins}, {2, 0, Outcome::kPlayerAWins}};
  const std::vector<CountedMatch> order{
      {0, 1, Outcome::kPlayerAWins}, {1, 2, Outcome::kPlayerAWins}, {0, 2, Outcome::kPlayerAWins}};
  EXPECT_EQ(luck_of(3, circle, 1, {}), 1);
  EXPECT_NEAR(*luck_of(3, order, 1, {}), 0.75, 0.015);
  EXPECT_EQ(luck_of(3, std::vector<CountedMatch>(4, {0, 1}), 1, {}), std::nullopt);
}

/// Of equal players, a part p of all leagues has a luck of at most p: for samples and for the
/// formula.
TEST(Luck, IsUniformForEqualPlayers) {
  for (const auto& [players, meetings, leagues] :
       {std::tuple(10, 1, 150), std::tuple(102, 1, 150)}) {
    SplitMix bits(5);
    int below_half = 0;
    int below_tenth = 0;
    for (int i = 0; i < leagues; ++i) {
      const auto matches =
          played(std::vector<double>(static_cast<std::size_t>(players)), meetings, 1, bits);
      const double luck = *luck_of(static_cast<std::size_t>(players), matches, bits.next(), {});
      below_half += luck <= 0.5 ? 1 : 0;
      below_tenth += luck <= 0.1 ? 1 : 0;
    }
    EXPECT_NEAR(below_half, leagues / 2, 4 * std::sqrt(leagues) / 2) << players;
    EXPECT_NEAR(below_tenth, leagues / 10, 4 * std::sqrt(leagues) * 0.3) << players;
  }
}

TEST(Luck, IsTheSameBySamplesAndByFormula) {
  // 100 players have 4,950 matches and are sampled; with one more match it is the formula.
  SplitMix bits(3);
  auto matches = played(std::vector<double>(100, 0.0), 1, 1, bits);
  const double sampled = *luck_of(100, matches, 1, {});
  for (int i = 0; i < 60; ++i) matches.push_back({2 * (i % 50), 2 * (i % 50) + 1});
  EXPECT_NEAR(*luck_of(100, matches, 1, {}), sampled, 0.03);
}

TEST(Luck, SaysInASentenceWhatItMeans) {
  EXPECT_EQ(luck_sentence(std::nullopt), "");
  EXPECT_EQ(luck_sentence(0.634),
            "This table may be luck: equal players would give a table at least this uneven in 63 "
            "of 100 leagues.");
  EXPECT_EQ(luck_sentence(0.0042),
            "This table is hardly luck: equal players would give a table at least this uneven in 4 "
            "of 1,000 leagues.");
  EXPECT_NE(luck_sentence(0).find("in fewer than 1 of 1,000 leagues"), std::string::npos);
  EXPECT_NE(luck_sentence(1).find("in nearly every league"), std::string::npos);
}

/// Sixty players that all have the same chance, as in Even/Odd, and sixty of which one always wins.
TEST(Luck, TellsAFairCoinFromAStrategy) {
  SplitMix bits(60);
  const auto coins = figures_of(60, played(std::vector<double>(60, 0.0), 1, 2, bits), "even_odd");
  EXPECT_GE(*coins->luck, 0.05);
  for (const auto& one : coins->players) EXPECT_LT(*one->p_first, kDecided);
  std::vector<double> strengths(60, 0.0);
  strengths[7] = 6;
  const auto led = figures_of(60, played(strengths, 1, 1, bits), "rock_paper_scissors");
  EXPECT_LT(*led->luck, 0.001);
  EXPECT_GE(*led->players[7]->p_first, kDecided);
  EXPECT_TRUE(is_decided(rating_of(*led, "P08")));
  EXPECT_FALSE(is_decided(rating_of(*led, "P09")));
}

TEST(Figures, CountWhatWasPlayed) {
  testing::PlayedLeague played(testing::settings(4, 2));
  played.enter_all(1);
  played.step();
  int reported = 0;
  for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
    (void)played.report(played.league.board().slot(match).referee(),
                        testing::report_of(played.league, match, ++reported));
  }
  ASSERT_EQ(counted_matches(played.league).size(), 2U);
  played.take(*played.league.decide_act({.act = events::OperatorAct::kVoidMatch,
                                         .by = "Ann",
                                         .reason = "a reason",
                                         .match = events::MatchKey{1, 1}},
                                        testing::at(0)));
  EXPECT_EQ(counted_matches(played.league).size(), 1U) << "a void match says nothing";
  EXPECT_EQ(figures_of(played.league).matches, 1U);
}

}  // namespace
}  // namespace league::league_manager::table
