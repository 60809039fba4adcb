#include "league_manager/core/standings.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <random>

#include "league_manager/core/schedule.h"

namespace league::league_manager {
namespace {

struct PlayedResult {
  int a;
  int b;
  game::Outcome outcome;
};

/// As Even/Odd counts it.
events::CompactResult counted(game::Outcome outcome) {
  events::CompactResult result;
  result.outcome = outcome;
  if (outcome == game::Outcome::kDraw) result.points = {{1, 1}};
  if (const auto winner = game::winner_of(outcome)) result.points[*winner] = 3;
  return result;
}

Standings table_of(int players, const std::vector<PlayedResult>& matches,
                   DirectMatches direct = DirectMatches::kAlways) {
  Standings standings(players, {}, direct);
  for (const auto& match : matches) standings.record(match.a, match.b, counted(match.outcome));
  return standings;
}

std::vector<int> order(const Standings& standings) {
  std::vector<int> players;
  for (const auto& row : standings.table()) players.push_back(row.player);
  return players;
}

std::vector<int> ranks(const Standings& standings) {
  std::vector<int> ranks;
  for (const auto& row : standings.table()) ranks.push_back(row.rank);
  return ranks;
}

constexpr auto kA = game::Outcome::kPlayerAWins;
constexpr auto kB = game::Outcome::kPlayerBWins;
constexpr auto kDraw = game::Outcome::kDraw;
constexpr auto kNone = game::Outcome::kNoWinner;

TEST(Standings, CountsEachKindOfResult) {
  auto standings = table_of(4, {{0, 1, kA}, {2, 3, kDraw}, {0, 2, kB}, {1, 3, kNone}});
  EXPECT_EQ(standings.tally(0), (Tally{2, 1, 0, 1, 3}));
  EXPECT_EQ(standings.tally(1), (Tally{2, 0, 0, 2, 0}));
  EXPECT_EQ(standings.tally(2), (Tally{2, 1, 1, 0, 4}));
  EXPECT_EQ(standings.tally(3), (Tally{2, 0, 1, 1, 1}));
}

TEST(Standings, SharesRankOneBeforeAnythingIsPlayed) {
  EXPECT_EQ(ranks(Standings(3)), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(order(Standings(3)), (std::vector<int>{0, 1, 2}));
}

TEST(Standings, PutsTheWinnerOfTheDirectMatchFirst) {
  // 0 and 1 have three points each; 1 beat 0.
  auto standings = table_of(4, {{0, 1, kB}, {0, 2, kA}, {1, 3, kB}});
  EXPECT_EQ(order(standings), (std::vector<int>{1, 3, 0, 2}));
  EXPECT_EQ(ranks(standings), (std::vector<int>{1, 1, 3, 4}));
}

TEST(Standings, CountsDirectMatchesAmongAllWhoAreTiedInOnePass) {
  // 0, 1, 2 have four points. Among them: 0 beat 1 (3), 1 and 2 drew (1 each), 0 and 2 have not
  // met: 0, then 1 and 2.
  auto standings = table_of(6, {{0, 1, kA}, {1, 2, kDraw}, {0, 3, kDraw}, {1, 4, kA}, {2, 5, kA}});
  ASSERT_EQ(standings.tally(0).points, 4);
  ASSERT_EQ(standings.tally(1).points, 4);
  ASSERT_EQ(standings.tally(2).points, 4);
  EXPECT_EQ(order(standings), (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ranks(standings), (std::vector<int>{1, 2, 2, 4, 5, 5}));
}

TEST(Standings, CountsDirectMatchesOnlyWhereAllHaveMetEquallyOften) {
  constexpr auto kRule = DirectMatches::kIfEquallyOften;
  // 0, 1, 2 have four points each; 0 and 2 have not met, so nothing parts them.
  const std::vector<PlayedResult> once{
      {0, 1, kA}, {1, 2, kDraw}, {0, 3, kDraw}, {1, 4, kA}, {2, 5, kA}};
  EXPECT_EQ(ranks(table_of(6, once, kRule)), (std::vector<int>{1, 1, 1, 4, 5, 5}));
  auto standings = table_of(6, once, kRule);
  standings.record(2, 0, counted(kNone));
  EXPECT_EQ(order(standings)[0], 0) << "now they have all met once";
  standings.withdraw(2, 0, counted(kNone));
  EXPECT_EQ(standings, table_of(6, once, kRule));
}

TEST(Standings, AddsUpTheMeetingsOfAPair) {
  constexpr auto kRule = DirectMatches::kIfEquallyOften;
  const std::vector<PlayedResult> twice{{0, 1, kA}, {1, 0, kDraw}, {0, 2, kB},
                                        {2, 0, kB}, {1, 2, kDraw}, {2, 1, kB}};
  auto standings = table_of(3, twice, kRule);
  ASSERT_EQ(standings.tally(0), (Tally{4, 2, 1, 1, 7}));
  ASSERT_EQ(standings.tally(1), (Tally{4, 1, 2, 1, 5}));
  standings.record(1, 0, counted(kB));
  standings.record(0, 1, counted(kNone));
  EXPECT_EQ(standings.tally(0).played, 6);
  for (int meeting = 0; meeting < 96; ++meeting) standings.record(0, 1, counted(kB));
  EXPECT_EQ(order(standings)[0], 1) << "a hundred meetings of one pair fit";
}

TEST(Standings, PrefersMoreWinsWhenTheDirectMatchDecidesNothing) {
  // 0 has three draws, 1 has one win; they have not met, and 1 has more wins.
  auto standings = table_of(6, {{0, 2, kDraw}, {0, 3, kDraw}, {0, 4, kDraw}, {1, 5, kA}});
  EXPECT_EQ(order(standings)[0], 1);
  EXPECT_EQ(order(standings)[1], 0);
}

std::vector<PlayedResult> random_results(int players) {
  Schedule schedule(players);
  std::vector<PlayedResult> matches;
  for (int round = 1; round <= schedule.rounds(); ++round) {
    for (auto [a, b] : schedule.round(round)) {
      if (*rc::gen::inRange(0, 10) == 0) continue;  // a league that is still going on
      matches.push_back({a, b, static_cast<game::Outcome>(*rc::gen::inRange(0, 4))});
    }
  }
  return matches;
}

TEST(StandingsProperty, SumsAgreeWithTheResults) {
  EXPECT_TRUE(rc::check("sums", [] {
    int players = *rc::gen::inRange(2, 14);
    auto matches = random_results(players);
    auto standings = table_of(players, matches);
    int points = 0;
    int played = 0;
    for (const auto& row : standings.table()) {
      const Tally& t = row.tally;
      RC_ASSERT(t.played == t.wins + t.draws + t.losses);
      RC_ASSERT(t.points == 3 * t.wins + t.draws);
      points += t.points;
      played += t.played;
    }
    int expected = 0;
    for (const auto& match : matches)
      expected += counted(match.outcome).points.both[0] + counted(match.outcome).points.both[1];
    RC_ASSERT(points == expected);
    RC_ASSERT(played == 2 * static_cast<int>(matches.size()));
  }));
}

TEST(StandingsProperty, DoNotDependOnTheOrderOfResults) {
  EXPECT_TRUE(rc::check("permutation", [] {
    int players = *rc::gen::inRange(2, 14);
    auto matches = random_results(players);
    auto before = table_of(players, matches).table();
    std::mt19937 engine(*rc::gen::arbitrary<unsigned>());
    std::shuffle(matches.begin(), matches.end(), engine);
    for (auto& match : matches) {  // nor on who is called A
      if (engine() % 2 == 0) continue;
      std::swap(match.a, match.b);
      if (match.outcome == kA || match.outcome == kB) match.outcome = match.outcome == kA ? kB : kA;
    }
    RC_ASSERT(table_of(players, matches).table() == before);
  }));
}

TEST(StandingsProperty, RanksFollowTheChain) {
  EXPECT_TRUE(rc::check("chain", [] {
    int players = *rc::gen::inRange(2, 14);
    auto table = table_of(players, random_results(players)).table();
    for (std::size_t i = 1; i < table.size(); ++i) {
      const auto& above = table[i - 1];
      const auto& below = table[i];
      RC_ASSERT(above.tally.points >= below.tally.points);
      RC_ASSERT(below.rank == above.rank || below.rank == static_cast<int>(i) + 1);
      if (below.rank == above.rank) {
        RC_ASSERT(above.player < below.player);
        RC_ASSERT(above.tally.points == below.tally.points);
        RC_ASSERT(above.tally.wins == below.tally.wins && above.tally.draws == below.tally.draws);
      }
    }
  }));
}

TEST(Standings, OfAThousandPlayersAreQuick) {
  Schedule schedule(1000);
  Standings standings(1000);
  for (auto [a, b] : schedule.round(1)) standings.record(a, b, counted(kA));
  EXPECT_EQ(standings.table().size(), 1000u);
}

/// A game decides what a draw and a win are worth.
TEST(Standings, CountThePointsOfTheGame) {
  events::CompactResult both_cooperate;
  both_cooperate.outcome = kDraw;
  both_cooperate.points = {{3, 3}};
  events::CompactResult b_defects;
  b_defects.outcome = kB;
  b_defects.points = {{0, 100}};
  Standings standings(3);
  standings.record(0, 1, both_cooperate);
  standings.record(0, 2, b_defects);
  EXPECT_EQ(standings.tally(0), (Tally{2, 0, 1, 1, 3}));
  EXPECT_EQ(standings.tally(2), (Tally{1, 1, 0, 0, 100}));
  standings.withdraw(0, 2, b_defects);
  EXPECT_EQ(standings.tally(2), Tally{});
}

}  // namespace
}  // namespace league::league_manager
