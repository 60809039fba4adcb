#include "tools/audit/inspect/audit_stats.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace league::tools::auditor {
namespace {

constexpr std::size_t kUniformity = 0, kDependence = 1, kAdvantage = 2, kRoles = 3;
constexpr unsigned kLeagues = 200;

using Plant = std::function<void(MatchSample&, std::mt19937&)>;

/// `count` honest matches among ten players; tests plant their faults afterwards.
std::vector<MatchSample> honest(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<MatchSample> matches;
  for (std::size_t i = 0; i < count; ++i) {
    auto a = random() % 10;
    auto b = (a + 1 + random() % 9) % 10;
    matches.push_back({"P0" + std::to_string(a), "P0" + std::to_string(b), random() % 2 == 0,
                       random() % 2 == 0, static_cast<int>(random() % 10) + 1});
  }
  return matches;
}

std::vector<MatchSample> planted(std::size_t count, unsigned seed, const Plant& plant) {
  auto matches = honest(count, seed);
  std::mt19937 random(seed + 100'000);
  for (auto& match : matches) plant(match, random);
  return matches;
}

/// Of how many leagues in a hundred this test is suspicious.
double found(std::size_t test, std::size_t count, const Plant& plant) {
  unsigned times = 0;
  for (unsigned seed = 1; seed <= kLeagues; ++seed) {
    if (statistics_of(planted(count, seed, plant)).tests.at(test).is_suspicious()) ++times;
  }
  return 100.0 * times / kLeagues;
}

/// The power that is told for this sample, in percent.
double told(std::size_t test, std::size_t count, const Plant& plant) {
  return 100 * statistics_of(planted(count, 1, plant)).tests.at(test).power;
}

/// Number 7 comes with 0.2, the others with 0.8 / 9.
void plant_seven(MatchSample& match, std::mt19937& random) {
  if (random() % 9 == 0) match.number = 7;
}

/// In one match of five the number is made to be what player A chose: its parity is right with 0.6.
void plant_favour(MatchSample& match, std::mt19937& random) {
  if (random() % 5 == 0) match.number = match.a_first ? 2 : 3;
}

/// P03 is player A in nine of ten of its matches.
void plant_role(MatchSample& match, std::mt19937& random) {
  bool concerned = match.player_a == "P03" || match.player_b == "P03";
  if (!concerned) return;
  bool shall_be_a = random() % 10 != 0;
  if ((match.player_a == "P03") != shall_be_a) {
    std::swap(match.player_a, match.player_b);
    std::swap(match.a_first, match.b_first);
  }
}

bool is_pair(const MatchSample& match) {
  return (match.player_a == "P03" && match.player_b == "P04") ||
         (match.player_a == "P04" && match.player_b == "P03");
}

/// P03 and P04 choose differently in 0.95 of their matches.
void plant_pair(MatchSample& match, std::mt19937& random) {
  if (is_pair(match)) match.b_first = (random() % 20 != 0) != match.a_first;
}

TEST(AuditStats, AnHonestLeagueIsAccusedOnceInAHundredTimes) {
  for (std::size_t count : {45U, 400U}) {
    unsigned accused = 0;
    for (unsigned seed = 1; seed <= 1000; ++seed)
      accused += statistics_of(honest(count, seed)).is_suspicious() ? 1 : 0;
    EXPECT_LE(accused, 20U) << count << " matches";
  }
}

TEST(AuditStats, HabitsAreNoConspiracy) {
  // Each player has its own leaning; who leans to other sides often chooses differently.
  Plant habits = [](MatchSample& match, std::mt19937& random) {
    match.a_first = random() % 10 < static_cast<unsigned>(match.player_a[2] - '0');
    match.b_first = random() % 10 < static_cast<unsigned>(match.player_b[2] - '0');
  };
  unsigned accused = 0;
  for (unsigned seed = 1; seed <= 300; ++seed)
    accused += statistics_of(planted(900, seed, habits)).is_suspicious() ? 1 : 0;
  EXPECT_LE(accused, 9U);
}

TEST(AuditStats, FindsANumberThatComesTooOften) {
  for (std::size_t count : {100U, 200U, 400U})
    EXPECT_NEAR(found(kUniformity, count, plant_seven), told(kUniformity, count, plant_seven), 10);
  EXPECT_GE(found(kUniformity, 600, plant_seven), 98);
}

TEST(AuditStats, FindsADrawThatFollowsTheChoices) {
  for (std::size_t count : {200U, 400U, 600U})
    EXPECT_NEAR(found(kDependence, count, plant_favour), told(kDependence, count, plant_favour),
                10);
  EXPECT_GE(found(kDependence, 1000, plant_favour), 97);
}

TEST(AuditStats, FindsARoleThatWins) {
  for (std::size_t count : {300U, 600U})
    EXPECT_NEAR(found(kAdvantage, count, plant_favour), told(kAdvantage, count, plant_favour), 10);
  EXPECT_GE(found(kAdvantage, 1500, plant_favour), 97);
}

TEST(AuditStats, FindsAPlayerThatIsAlwaysA) {
  // The power is that for the player with the fewest matches, so more are found than told.
  EXPECT_GE(found(kRoles, 100, plant_role) + 10, told(kRoles, 100, plant_role));
  EXPECT_GE(found(kRoles, 300, plant_role), 97);
}

TEST(AuditStats, FindsAPairThatAgrees) {
  unsigned hits = 0;
  double power = 0;
  for (unsigned seed = 1; seed <= kLeagues; ++seed) {
    auto all = statistics_of(planted(1000, seed, plant_pair));
    for (const auto& pair : all.pairs) {
      if (pair.pair != "P03 P04") {
        EXPECT_FALSE(pair.is_suspicious() && seed < 20) << pair.pair;
        continue;
      }
      power += pair.power / kLeagues;
      hits += pair.is_suspicious() ? 1 : 0;
    }
  }
  EXPECT_NEAR(100.0 * hits / kLeagues, 100 * power, 10);
  EXPECT_GT(power, 0.5);
  EXPECT_EQ(statistics_of(planted(4000, 3, plant_pair)).pairs.front().pair, "P03 P04");
}

TEST(AuditStats, PairsThatHardlyMetAreNotJudged) {
  std::vector<MatchSample> few(kFewestOfAPair - 1, {"P01", "P02", true, false, 3});
  EXPECT_TRUE(statistics_of(few).pairs.empty());
}

TEST(AuditStats, SaysNothingAboutNothing) {
  auto all = statistics_of({});
  EXPECT_EQ(all.matches, 0U);
  EXPECT_FALSE(all.is_suspicious());
}

TEST(AuditStats, ASmallSampleHasNoPower) {
  for (const auto& test : statistics_of(honest(10, 1)).tests)
    EXPECT_LT(test.power, 0.2) << test.name;
}

}  // namespace
}  // namespace league::tools::auditor
