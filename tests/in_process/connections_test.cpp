#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/in_process/league_checks.h"
#include "tests/support/sanitizers.h"

namespace league::testing {
namespace {

using Steps = std::vector<std::string>;

/// What every agent said and heard in every conversation, without what the transport knows.
std::map<std::string, Steps> transcript(const LeagueFixture& league) {
  std::map<std::string, Steps> found;
  for (const auto& one : league.recording.all()) {
    std::string step(audit::record::direction_name(one.direction));
    step.append(" ").append(audit::record::kind_name(one.kind)).append(" ").append(one.type);
    if (one.verdict) step.append(" ").append(core::wire_code(*one.verdict));
    found[one.conversation_id + " of " + one.agent].push_back(std::move(step));
  }
  return found;
}

/// Shares of every fault, from none to a lot, that follow from the seed.
transport::memory::FaultPlan some_faults(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto share = [&](double most) {
    bool is_any = random() % 3 != 0;
    return is_any ? most * static_cast<double>(random() % 1000) / 1000 : 0.0;
  };
  transport::memory::FaultPlan plan;
  plan.seed = seed;
  plan.drop = share(0.15);
  plan.duplicate = share(0.3);
  plan.delay = share(0.3);
  plan.reorder = share(0.3);
  plan.cut = share(0.1);
  constexpr std::array kLongest = {20, 1'000, 6'000, 12'000};
  plan.longest_delay = std::chrono::milliseconds(kLongest[random() % kLongest.size()]);
  return plan;
}

std::string text_of(const transport::memory::FaultPlan& plan) {
  auto share = [](const char* name, double value) {
    return std::string(" ") + name + " " + std::to_string(value);
  };
  return "seed " + std::to_string(plan.seed) + share("drop", plan.drop) +
         share("duplicate", plan.duplicate) + share("delay", plan.delay) +
         share("reorder", plan.reorder) + share("cut", plan.cut) + " longest " +
         std::to_string(plan.longest_delay.count()) + " ms";
}

TEST(Connections, TheSameLeagueAsOverSingleCalls) {
  for (int players : {2, 4, 7}) {
    LeagueFixtureOptions options{.players = players, .referees = 2, .seed = 11};
    LeagueFixture calls(options);
    options.links = transport::memory::FaultPlan{};
    LeagueFixture connections(options);
    ASSERT_TRUE(calls.play());
    ASSERT_TRUE(connections.play());
    expect_sound(connections);
    auto expected = transcript(calls);
    EXPECT_GT(expected.size(), static_cast<std::size_t>(players));
    EXPECT_EQ(transcript(connections), expected) << players << " players";
    EXPECT_EQ(connections.status(), calls.status());
    EXPECT_EQ(calls.links.opened(), 0U);
    EXPECT_GT(connections.links.opened(), static_cast<std::size_t>(players));
  }
}

TEST(Connections, ALeagueOnBadConnectionsEndsWithEveryMatchCountedOnce) {
  // As of the properties, a quarter: a sanitizer looks at the code that runs, not at the values.
  constexpr std::uint64_t kLeagues = kHasSanitizer ? 50 : 200;
  std::size_t opened = 0;
  int technical = 0;
  for (std::uint64_t seed = 1; seed <= kLeagues; ++seed) {
    auto plan = some_faults(seed);
    SCOPED_TRACE(text_of(plan));
    LeagueFixture league({.players = 4,
                          .referees = 1 + static_cast<int>(seed % 2),
                          .capacity = 1 + static_cast<int>(seed % 3),
                          .seed = seed,
                          .links = plan});
    ASSERT_TRUE(league.play(std::chrono::hours(3)));
    expect_sound(league);
    ASSERT_FALSE(HasFailure());
    opened += league.links.opened();
    technical += league.status()["technical_losses"].get<int>();
  }
  // Or else the faults were none.
  EXPECT_GT(opened, kLeagues * 20);
  EXPECT_GT(technical, 0);
}

TEST(Connections, APlayerThatGoesAndComesBackIsCalledByANewConnection) {
  LeagueFixture league({.links = transport::memory::FaultPlan{}});
  league.register_all();
  ASSERT_TRUE(league.run_until(
      [&] { return !events_of<league_manager::events::MatchAssigned>(league).empty(); }));
  league.disconnect("P02");
  league.pass(std::chrono::seconds(1));
  auto before = league.links.opened();
  league.connect("P02");
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_GT(league.links.opened(), before);
}

}  // namespace
}  // namespace league::testing
