#include "league_manager/events/agent_lifecycle.h"

#include <gtest/gtest.h>

namespace league::league_manager::events {
namespace {

core::UtcTimestamp at(int seconds) {
  return core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::seconds(seconds)));
}

class AgentLifecycleTest : public ::testing::Test {
 protected:
  AgentLifecycleTest() { agent_.enter(AgentState::kActive, at(0)); }

  void lose(int matches) {
    for (int i = 0; i < matches; ++i) agent_.count_failure(MatchKey{++round_, 1});
  }
  std::string due() {
    auto change = agent_.due(settings_);
    return change ? std::string(agent_state_name(change->to)) + " " + std::string(change->reason)
                  : std::string("nothing");
  }

  LifecycleSettings settings_;
  AgentLifecycle agent_;
  int round_ = 0;
};

TEST_F(AgentLifecycleTest, IsSuspendedAfterThreeLostMatchesInARow) {
  lose(2);
  EXPECT_EQ(due(), "nothing");
  lose(1);
  EXPECT_EQ(due(), "SUSPENDED FAILED_MATCHES");
}

TEST_F(AgentLifecycleTest, AMatchThatWasNotLostEndsTheRow) {
  for (int i = 0; i < 30; ++i) {
    lose(2);
    agent_.count_success();
    EXPECT_EQ(due(), "nothing");
  }
  EXPECT_EQ(agent_.failed_matches(), 60);
}

TEST_F(AgentLifecycleTest, SeveralFailuresOfOneMatchCountOnce) {
  for (int i = 0; i < 12; ++i) agent_.count_failure(MatchKey{1, 1});
  EXPECT_EQ(agent_.failed_matches(), 1);
  EXPECT_EQ(due(), "nothing");
}

TEST_F(AgentLifecycleTest, FailuresOutsideMatchesCountEach) {
  for (int i = 0; i < 3; ++i) agent_.count_failure(std::nullopt);
  EXPECT_EQ(due(), "SUSPENDED FAILED_MATCHES");
}

TEST_F(AgentLifecycleTest, NobodyIsShutDownAutomatically) {
  agent_.enter(AgentState::kSuspended, at(0), "FAILED_MATCHES");
  lose(1000);
  EXPECT_EQ(due(), "nothing");
}

TEST_F(AgentLifecycleTest, IsShutDownWhereTheOperatorWantsIt) {
  settings_.shutdown_after_failed_matches = 5;
  lose(4);
  EXPECT_EQ(due(), "SUSPENDED FAILED_MATCHES");
  agent_.enter(AgentState::kSuspended, at(1), "FAILED_MATCHES");
  EXPECT_EQ(due(), "nothing");
  lose(1);
  EXPECT_EQ(due(), "SHUTDOWN FAILED_MATCHES");
}

TEST_F(AgentLifecycleTest, ComingBackBeginsAnotherRow) {
  lose(3);
  agent_.enter(AgentState::kSuspended, at(1), "FAILED_MATCHES", "why");
  EXPECT_EQ(agent_.reason(), "FAILED_MATCHES");
  EXPECT_EQ(agent_.detail(), "why");
  agent_.enter(AgentState::kActive, at(2), "PLAYED");
  EXPECT_EQ(agent_.reason(), "PLAYED");
  EXPECT_EQ(agent_.detail(), "");
  lose(2);
  EXPECT_EQ(due(), "nothing");
  EXPECT_EQ(agent_.failed_matches(), 5);
}

TEST_F(AgentLifecycleTest, SaysNothingBeforeTheStartAndAfterTheEnd) {
  lose(20);
  for (auto state : {AgentState::kInit, AgentState::kRegistered, AgentState::kShutdown}) {
    agent_.enter(state, at(0));
    EXPECT_EQ(due(), "nothing") << agent_state_name(state);
  }
}

TEST_F(AgentLifecycleTest, ReadsItsNames) {
  EXPECT_EQ(parse_agent_state("SUSPENDED"), AgentState::kSuspended);
  EXPECT_EQ(parse_agent_state("suspended"), std::nullopt);
  EXPECT_EQ(parse_failure_kind("VALIDATION"), FailureKind::kValidation);
  EXPECT_EQ(parse_failure_kind(""), std::nullopt);
}

}  // namespace
}  // namespace league::league_manager::events
