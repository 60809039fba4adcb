#include "league_manager/agent_lifecycle.h"

#include <gtest/gtest.h>

namespace league::league_manager {
namespace {

constexpr auto kTimeout = FailureKind::kTimeout;
constexpr auto kConnection = FailureKind::kConnection;
constexpr auto kValidation = FailureKind::kValidation;

core::UtcTimestamp at(int seconds) {
  return core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::seconds(seconds)));
}

class AgentLifecycleTest : public ::testing::Test {
 protected:
  AgentLifecycleTest() { agent_.enter(AgentState::kActive, at(0)); }

  void fail(FailureKind kind, int times, int second = 0) {
    for (int i = 0; i < times; ++i) agent_.count_failure(kind, at(second));
  }
  std::string due(int second = 0) {
    auto change = agent_.due(settings_, at(second));
    return change ? std::string(agent_state_name(change->to)) + " " + change->reason
                  : std::string("nothing");
  }
  void suspend(int second = 0) { agent_.enter(AgentState::kSuspended, at(second)); }

  LifecycleSettings settings_;
  AgentLifecycle agent_;
};

TEST_F(AgentLifecycleTest, IsSuspendedAfterThreeTimeoutsInARow) {
  fail(kTimeout, 2);
  EXPECT_EQ(due(), "nothing");
  fail(kTimeout, 1);
  EXPECT_EQ(due(), "SUSPENDED TIMEOUTS_IN_A_ROW");
}

TEST_F(AgentLifecycleTest, ASuccessEndsTheRow) {
  fail(kTimeout, 2);
  agent_.count_success();
  fail(kTimeout, 2);
  EXPECT_EQ(due(), "nothing");
  EXPECT_EQ(agent_.failures(), 4);
}

TEST_F(AgentLifecycleTest, IsSuspendedAfterFiveConnectionErrorsInTenMinutes) {
  fail(kConnection, 4, 0);
  fail(kConnection, 1, 600);
  EXPECT_EQ(due(600), "SUSPENDED CONNECTION_ERRORS");
  EXPECT_EQ(due(601), "nothing");
}

TEST_F(AgentLifecycleTest, IsSuspendedAfterFiveValidationErrorsWhateverLiesBetween) {
  fail(kValidation, 4);
  agent_.count_success();
  EXPECT_EQ(due(), "nothing");
  fail(kValidation, 1, 5000);
  EXPECT_EQ(due(5000), "SUSPENDED VALIDATION_ERRORS");
}

TEST_F(AgentLifecycleTest, IsShutDownAfterFiveMinutesOfSuspension) {
  suspend(100);
  EXPECT_EQ(due(399), "nothing");
  EXPECT_EQ(due(400), "SHUTDOWN SUSPENSION_LIMIT");
}

TEST_F(AgentLifecycleTest, IsShutDownAfterTenFailuresInAllHoweverOftenItCameBack) {
  for (int round = 0; round < 3; ++round) {
    fail(kTimeout, 3);
    EXPECT_EQ(due(), "SUSPENDED TIMEOUTS_IN_A_ROW");
    suspend();
    agent_.enter(AgentState::kActive, at(0));
    EXPECT_EQ(due(), "nothing");
  }
  fail(kTimeout, 1);
  EXPECT_EQ(due(), "SHUTDOWN FAILURES_IN_ALL");
}

TEST_F(AgentLifecycleTest, ComingBackClearsWhatLedToTheSuspension) {
  fail(kTimeout, 2);
  fail(kConnection, 4);
  fail(kValidation, 3);
  suspend();
  agent_.enter(AgentState::kActive, at(1));
  EXPECT_EQ(agent_.failures(), 9);
  settings_.failures_in_all = 100;
  fail(kTimeout, 2);
  fail(kConnection, 4);
  fail(kValidation, 4);
  EXPECT_EQ(due(1), "nothing");
}

TEST_F(AgentLifecycleTest, SaysNothingBeforeTheStartAndAfterTheEnd) {
  fail(kTimeout, 20);
  for (auto state : {AgentState::kInit, AgentState::kRegistered, AgentState::kShutdown}) {
    agent_.enter(state, at(0));
    EXPECT_EQ(due(100000), "nothing") << agent_state_name(state);
  }
}

TEST_F(AgentLifecycleTest, ReadsItsNames) {
  EXPECT_EQ(parse_agent_state("SUSPENDED"), AgentState::kSuspended);
  EXPECT_EQ(parse_agent_state("suspended"), std::nullopt);
  EXPECT_EQ(parse_failure_kind("VALIDATION"), kValidation);
  EXPECT_EQ(parse_failure_kind(""), std::nullopt);
}

}  // namespace
}  // namespace league::league_manager
