#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using league_manager::events::AgentRef;
using league_manager::events::AgentState;
using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;

/// A referee that is two minutes late with everything.
core::OwnDelay two_minutes() { return {.scheduling = minutes(2), .canary = {}}; }

TEST(FairClock, ALossForTimeOfAnOverloadedRefereeIsPlayedAgain) {
  LeagueFixture league({.players = 4});
  league.register_all();
  league.delays.set(two_minutes());
  int attempts = league.options.settings.retry.max_attempts;
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence(), attempts);
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  json replays;
  for (const auto& report :
       spoken(league, "league_manager", Direction::kIn, Kind::kRequest, "MATCH_RESULT_REPORT")) {
    const auto& details = report.message["result"]["details"];
    if (!details.contains("replays")) continue;
    replays.push_back(details["replays"]);
    EXPECT_EQ(details["failures"].size(), static_cast<std::size_t>(attempts));
    for (const auto& failure : details["failures"])
      EXPECT_EQ(failure["clock"]["void"], true) << failure;
  }
  EXPECT_EQ(replays, json::array({1}));
}

TEST(FairClock, AnAnswerThatIsReadAfterAStandstillIsATimeOutThatDoesNotCount) {
  LeagueFixture league({.players = 2});
  league.register_all();
  auto limit = league.options.settings.time_limit(envelope::MessageType::kChooseParityCall);
  league.script("P01").on("CHOOSE_PARITY_CALL",
                          Deviation::edit([&](json&) { league.time.jump(limit + seconds(10)); }),
                          1);
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  auto reports =
      spoken(league, "league_manager", Direction::kIn, Kind::kRequest, "MATCH_RESULT_REPORT");
  ASSERT_EQ(reports.size(), 1U);
  const auto& details = reports[0].message["result"]["details"];
  ASSERT_EQ(details["failures"].size(), 2U) << "both answered while it stood still: " << details;
  for (const auto& failure : details["failures"]) {
    EXPECT_EQ(failure["error_code"], "E001") << details;
    EXPECT_EQ(failure["clock"]["void"], true) << details;
  }
  auto answers = spoken(league, "REF01", Direction::kIn, Kind::kReply, "CHOOSE_PARITY_RESPONSE");
  auto is_judged = [](const auto& one) { return one.verdict == core::ErrorCode::kTimeout; };
  EXPECT_EQ(answers.size(), 4U) << "two that are late, and two that count";
  EXPECT_EQ(std::ranges::count_if(answers, is_judged), 2);
}

TEST(FairClock, AfterThreeReplaysALossForTimeStandsButDoesNotSuspend) {
  LeagueFixture league({.players = 2});
  league.register_all();
  league.delays.set(two_minutes());
  league.script("P01").on("GAME_INVITATION", Deviation::silence());
  ASSERT_TRUE(league.play());
  EXPECT_EQ(ending_of(league, "R1M1"), "P01 0 P02 3 TIMEOUT_JOIN");
  EXPECT_EQ(state_of(league, AgentRef::player(0)), AgentState::kActive);
}

}  // namespace
}  // namespace league::testing
