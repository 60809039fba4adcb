#include "league_manager/core/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

namespace league::league_manager {
namespace {

/// Checks every rule of protocol §7 for one size of league.
void check_schedule(int players, int meetings = 1) {
  SCOPED_TRACE(players);
  Schedule schedule(players, {}, meetings);
  EXPECT_EQ(schedule.rounds(), meetings * (players % 2 == 0 ? players - 1 : players));
  EXPECT_EQ(schedule.total_matches(),
            static_cast<std::size_t>(meetings * players * (players - 1) / 2));
  std::set<std::tuple<int, int, int>> met;  // in one order in odd meetings, in the other in even
  std::set<std::tuple<int, int, int>> pairs;
  std::vector<int> as_a(static_cast<std::size_t>(players));
  std::vector<int> byes(static_cast<std::size_t>(players));
  for (int round = 1; round <= schedule.rounds(); ++round) {
    std::vector<int> plays(static_cast<std::size_t>(players));
    auto pairings = schedule.round(round);
    ASSERT_EQ(static_cast<int>(pairings.size()), schedule.matches_in(round));
    for (std::size_t i = 0; i < pairings.size(); ++i) {
      auto [a, b] = pairings[i];
      ASSERT_TRUE(a >= 0 && a < players && b >= 0 && b < players && a != b);
      events::MatchKey key{round, static_cast<int>(i) + 1};
      const int meeting = schedule.meeting_of(key);
      EXPECT_TRUE(pairs.insert({meeting, std::min(a, b), std::max(a, b)}).second)
          << a << " meets " << b << " twice";
      met.insert({meeting % 2, a, b});
      ++plays[static_cast<std::size_t>(a)];
      ++plays[static_cast<std::size_t>(b)];
      ++as_a[static_cast<std::size_t>(a)];
      EXPECT_TRUE(schedule.contains(key));
      EXPECT_EQ(schedule.pairing(key), pairings[i]);
      EXPECT_EQ(schedule.match_of(a, round), key);
      EXPECT_EQ(schedule.match_of(b, round), key);
    }
    for (int player = 0; player < players; ++player) {
      auto index = static_cast<std::size_t>(player);
      ASSERT_LE(plays[index], 1);
      if (plays[index] == 1) continue;
      ++byes[index];
      EXPECT_EQ(schedule.match_of(player, round), std::nullopt);
    }
  }
  EXPECT_EQ(pairs.size(), schedule.total_matches());
  EXPECT_EQ(met.size(),
            static_cast<std::size_t>(std::min(meetings, 2) * players * (players - 1) / 2))
      << "the roles change from meeting to meeting";
  for (int player = 0; player < players; ++player) {
    auto index = static_cast<std::size_t>(player);
    int as_b = meetings * (players - 1) - as_a[index];
    EXPECT_LE(std::abs(as_a[index] - as_b), 1) << "roles of player " << player;
    EXPECT_EQ(byes[index], players % 2 * meetings) << "byes of player " << player;
  }
}

TEST(Schedule, CountsMatchesAndReplaysInTheirOrder) {
  Schedule schedule(5);
  schedule.add_replay({1, 1}, 2);
  schedule.add_replay({1, 2}, 2);  // of other players: the same round
  schedule.add_replay({2, 1}, 2);
  EXPECT_EQ(schedule.rounds(), 7);
  EXPECT_EQ(schedule.matches_in(6), 2);
  EXPECT_EQ(schedule.total_matches(), 13u);
  for (std::size_t index = 0; index < schedule.total_matches(); ++index) {
    const events::MatchKey match = schedule.match_at(index);
    EXPECT_TRUE(schedule.contains(match));
    EXPECT_EQ(schedule.index_of(match), index);
  }
  EXPECT_FALSE(schedule.contains({6, 3}));
  EXPECT_EQ(schedule.next_replay({1, 1}, 6).round, 7) << "a round that has begun is full";
}

TEST(Schedule, KeepsTheRulesForEverySizeUpTo64) {
  for (int players = 2; players <= 64; ++players) check_schedule(players);
}

TEST(Schedule, KeepsTheRulesWithSeveralMeetings) {
  for (int players = 2; players <= 12; ++players)
    for (int meetings = 2; meetings <= 5; ++meetings) check_schedule(players, meetings);
}

TEST(Schedule, KnowsTheEarlierMatchesOfAPair) {
  Schedule schedule(4, {}, 3);
  EXPECT_EQ(schedule.rounds(), 9);
  EXPECT_EQ(schedule.earlier_matches({2, 1}), std::vector<events::MatchKey>{});
  EXPECT_EQ(schedule.earlier_matches({8, 1}), (std::vector<events::MatchKey>{{2, 1}, {5, 1}}));
  schedule.add_replay({5, 1}, 6);
  schedule.add_replay({5, 2}, 6);
  schedule.add_replay({10, 1}, 10);  // the replay is void, too
  EXPECT_EQ(schedule.meeting_of({10, 1}), 2);
  EXPECT_EQ(schedule.meeting_of({11, 1}), 2);
  EXPECT_EQ(schedule.earlier_matches({11, 1}),
            (std::vector<events::MatchKey>{{2, 1}, {5, 1}, {8, 1}, {10, 1}}));
  EXPECT_EQ(schedule.pairing({11, 1}), schedule.pairing({5, 1})) << "with the same roles";
}

TEST(Schedule, KeepsTheRulesForLargeLeagues) {
  check_schedule(100);
  check_schedule(299);
  check_schedule(300);
}

TEST(Schedule, KnowsWhatIsNotInIt) {
  Schedule schedule(4);
  EXPECT_TRUE(schedule.contains({3, 2}));
  EXPECT_FALSE(schedule.contains({4, 1}));
  EXPECT_FALSE(schedule.contains({1, 3}));
  EXPECT_FALSE(schedule.contains({0, 1}));
  EXPECT_FALSE(schedule.contains({1, 0}));
  EXPECT_FALSE(Schedule().contains({1, 1}));
  EXPECT_EQ(Schedule().total_matches(), 0u);
}

TEST(Schedule, OfAThousandPlayersTakesNoMemoryAndNoTime) {
  static_assert(sizeof(Schedule) <= 64);
  Schedule schedule(1000);
  std::size_t matches = 0;
  for (int round = 1; round <= schedule.rounds(); ++round) matches += schedule.round(round).size();
  EXPECT_EQ(matches, 499500u);
}

}  // namespace
}  // namespace league::league_manager
