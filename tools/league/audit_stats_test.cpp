#include "tools/league/audit_stats.h"

#include <gtest/gtest.h>

#include <random>

namespace league::tools {
namespace {

/// `count` honest matches among ten players; tests plant their faults afterwards.
std::vector<PlayedMatch> honest(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<PlayedMatch> matches;
  for (std::size_t i = 0; i < count; ++i) {
    auto a = random() % 10;
    auto b = (a + 1 + random() % 9) % 10;
    matches.push_back({"P0" + std::to_string(a), "P0" + std::to_string(b), random() % 2 == 0,
                       random() % 2 == 0, static_cast<int>(random() % 10) + 1});
  }
  return matches;
}

/// How many of 100 samples the test with this index finds suspicious.
template <typename Plant>
int found(std::size_t test, std::size_t count, Plant plant) {
  int times = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    auto matches = honest(count, seed);
    std::mt19937 random(seed + 1000);
    for (auto& match : matches) plant(match, random);
    if (statistics_of(matches).tests.at(test).is_suspicious()) ++times;
  }
  return times;
}

/// The power that is told for this sample, in percent.
double told(std::size_t test, std::size_t count) {
  return 100 * statistics_of(honest(count, 1)).tests.at(test).power;
}

TEST(AuditStats, AnHonestLeagueIsSeldomSuspected) {
  for (std::size_t test = 0; test < 3; ++test)
    EXPECT_LE(found(test, 1000, [](auto&, auto&) {}), 5) << test;
}

TEST(AuditStats, FindsANumberThatComesTooOften) {
  auto plant = [](PlayedMatch& match, std::mt19937& random) {
    // 7 with 0.2, the others with 0.8 / 9.
    if (random() % 9 == 0) match.number = 7;
  };
  EXPECT_NEAR(found(0, 200, plant), told(0, 200), 15);
  EXPECT_GE(found(0, 1000, plant), 98);
}

TEST(AuditStats, FindsADrawThatFollowsTheChoices) {
  auto plant = [](PlayedMatch& match, std::mt19937& random) {
    if (random() % 5 == 0) match.number = match.a_even ? 2 : 3;
  };
  EXPECT_NEAR(found(1, 300, plant), told(1, 300), 15);
  EXPECT_GE(found(1, 2000, plant), 98);
}

TEST(AuditStats, FindsARoleThatWins) {
  auto plant = [](PlayedMatch& match, std::mt19937& random) {
    if (random() % 5 == 0) match.number = match.a_even ? 2 : 3;
  };
  EXPECT_GE(found(2, 2000, plant), 95);
}

TEST(AuditStats, FindsAPairThatAgrees) {
  auto matches = honest(2000, 3);
  for (auto& match : matches) {
    bool pair = (match.player_a == "P03" && match.player_b == "P04") ||
                (match.player_a == "P04" && match.player_b == "P03");
    if (pair) match.b_even = !match.a_even;
  }
  auto all = statistics_of(matches);
  EXPECT_EQ(all.pairs.front().pair, "P03 P04");
  EXPECT_LT(all.pairs.front().p, 0.01);
  EXPECT_GT(all.pairs.at(1).p, 0.01);
}

TEST(AuditStats, SaysNothingAboutNothing) {
  auto all = statistics_of({});
  EXPECT_EQ(all.matches, 0U);
  for (const auto& test : all.tests) EXPECT_FALSE(test.is_suspicious());
}

}  // namespace
}  // namespace league::tools
