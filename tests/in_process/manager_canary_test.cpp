#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/in_process/league_checks.h"

// What did not come while the manager itself was late is held against nobody.
namespace league::testing {
namespace {

using league_manager::events::AgentRef;
using league_manager::events::AgentState;
using std::chrono::minutes;
using std::chrono::seconds;

const AgentRef kReferee = AgentRef::referee(0);
const core::OwnDelay kLate{.scheduling = seconds(20), .canary = {}};

bool is_told(const LeagueFixture& league, const std::string& event) {
  return std::ranges::any_of(league.operator_lines, [&](const std::string& line) {
    return line.find(event) != std::string::npos;
  });
}

TEST(ManagerCanary, ARefereesSilenceCountsOnlyIfTheManagerWasInTime) {
  LeagueFixture league({.players = 4, .referees = 2});
  league.register_all();
  league.script("P01").on("GAME_INVITATION", Deviation::silence(), 2);  // a match that takes long
  ASSERT_TRUE(league.run_until([&] { return league.running_matches(0) > 0; }, minutes(1)));
  league.manager_delays.set(kLate);
  league.disconnect("REF01");
  league.pass(seconds(10));
  EXPECT_EQ(state_of(league, kReferee), AgentState::kActive);
  league.manager_delays.set({});
  EXPECT_TRUE(league.run_until([&] { return state_of(league, kReferee) == AgentState::kSuspended; },
                               seconds(30)));
}

TEST(ManagerCanary, AManagerThatStoodStillTakesNoMatchBack) {
  LeagueFixture league({.players = 2, .referees = 1});
  league.register_all();
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence(), 1);
  ASSERT_TRUE(league.run_until([&] { return league.running_matches(0) > 0; }, minutes(1)));
  league.time.jump(minutes(60));  // longer than every limit of a match
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  const auto events = league.events();
  EXPECT_TRUE(std::ranges::none_of(events, [](const league_manager::events::Event& event) {
    return std::holds_alternative<league_manager::events::MatchReleased>(event.body) ||
           std::holds_alternative<league_manager::events::FailureCounted>(event.body);
  }));
  EXPECT_TRUE(is_told(league, "MANAGER_LATE"));
}

TEST(ManagerCanary, AnAssignmentThatIsNotTakenIsOfferedAgainWhileTheManagerIsLate) {
  LeagueFixture league({.players = 2, .referees = 1});
  league.register_all();
  league.manager_delays.set(kLate);
  league.script("REF01").on("ROUND_ANNOUNCEMENT", Deviation::silence(), 5);
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  EXPECT_EQ(state_of(league, kReferee), AgentState::kActive);
}

}  // namespace
}  // namespace league::testing
