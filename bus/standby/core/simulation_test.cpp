#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "bus/standby/core/world_testing.h"
#include "tests/support/sanitizers.h"

namespace league::league_manager::stream::testing {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// STREAM_SEED=N plays one schedule, STREAM_SCHEDULES=N so many; with STREAM_TRACE, it tells what
/// the managers do.
TEST(StreamSimulation, NothingAcknowledgedIsLostAndTheLeagueGoesOn) {
  const std::uint64_t first = number_from("STREAM_SEED", 1);
  const std::uint64_t count =
      std::getenv("STREAM_SEED") != nullptr
          ? 1
          : number_from("STREAM_SCHEDULES", league::testing::kHasSanitizer ? 500 : 10'000);
  std::uint64_t stuck = 0;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
    bool was_stuck = false;
    const std::string violation = play(seed, {}, &was_stuck);
    EXPECT_EQ(violation, "") << "STREAM_SEED=" << seed;
    failures += violation.empty() ? 0 : 1;
    stuck += was_stuck ? 1 : 0;
  }
  RecordProperty("stuck", std::to_string(stuck));
  std::cout << stuck << " of " << count << " wait for a manager although one has everything\n";
}

struct RuleCase {
  const char* name;
  bool Rules::*rule;
};
void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.name; }

class RuleOff : public ::testing::TestWithParam<RuleCase> {};

/// Each rule is needed: without it, some schedule goes wrong.
TEST_P(RuleOff, IsNoticed) {
  constexpr std::uint64_t kSchedules = 10'000;
  if (league::testing::kHasSanitizer) GTEST_SKIP() << "some need thousands of schedules";
  Rules rules;
  rules.*GetParam().rule = false;
  for (std::uint64_t seed = 1; seed <= kSchedules; ++seed) {
    const std::string violation = play(seed, rules);
    if (violation.empty()) continue;
    std::cout << "seed " << seed << ": " << violation << "\n";
    return;
  }
  FAIL() << "no schedule needs the rule " << GetParam().name;
}

#define RULE(name) \
  RuleCase { #name, &Rules::name }
INSTANTIATE_TEST_SUITE_P(StreamSimulation, RuleOff,
                         ::testing::Values(RULE(expects_sequence), RULE(expects_id),
                                           RULE(waits_for_flush), RULE(waits_for_stream),
                                           RULE(waits_for_standbys), RULE(publishes_again),
                                           RULE(keeps_id), RULE(only_conflict_ends),
                                           RULE(reads_after_conflict), RULE(ends_at_others_message),
                                           RULE(ignores_unfinished), RULE(waits_for_silence),
                                           RULE(puts_tail_aside), RULE(opens_incarnation),
                                           RULE(newer_ends_older), RULE(recovers_only_whole),
                                           RULE(doubts_after_silence)),
                         [](const auto& each) { return std::string(each.param.name); });
#undef RULE

}  // namespace
}  // namespace league::league_manager::stream::testing
