#include "league_manager/core/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace league::league_manager {
namespace {

/// Checks every rule of protocol §7 for one size of league.
void check_schedule(int players) {
  SCOPED_TRACE(players);
  Schedule schedule(players);
  EXPECT_EQ(schedule.rounds(), players % 2 == 0 ? players - 1 : players);
  EXPECT_EQ(schedule.total_matches(),
            static_cast<std::size_t>(players) * static_cast<std::size_t>(players - 1) / 2);
  std::set<std::pair<int, int>> pairs;
  std::vector<int> as_a(static_cast<std::size_t>(players));
  std::vector<int> byes(static_cast<std::size_t>(players));
  for (int round = 1; round <= schedule.rounds(); ++round) {
    std::vector<int> plays(static_cast<std::size_t>(players));
    auto pairings = schedule.round(round);
    ASSERT_EQ(static_cast<int>(pairings.size()), schedule.matches_in(round));
    for (std::size_t i = 0; i < pairings.size(); ++i) {
      auto [a, b] = pairings[i];
      ASSERT_TRUE(a >= 0 && a < players && b >= 0 && b < players && a != b);
      EXPECT_TRUE(pairs.insert(std::minmax(a, b)).second) << a << " meets " << b << " twice";
      ++plays[static_cast<std::size_t>(a)];
      ++plays[static_cast<std::size_t>(b)];
      ++as_a[static_cast<std::size_t>(a)];
      events::MatchKey key{round, static_cast<int>(i) + 1};
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
  for (int player = 0; player < players; ++player) {
    auto index = static_cast<std::size_t>(player);
    int as_b = players - 1 - as_a[index];
    EXPECT_LE(std::abs(as_a[index] - as_b), 1) << "roles of player " << player;
    EXPECT_EQ(byes[index], players % 2) << "byes of player " << player;
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
  static_assert(sizeof(Schedule) <= 56);
  Schedule schedule(1000);
  std::size_t matches = 0;
  for (int round = 1; round <= schedule.rounds(); ++round) matches += schedule.round(round).size();
  EXPECT_EQ(matches, 499500u);
}

}  // namespace
}  // namespace league::league_manager
