#include "league_manager/rounds/state_notice.h"

#include <gtest/gtest.h>

namespace league::league_manager::rounds {
namespace {

TEST(StateNotice, SaysTheStateTheReasonAndWhatTheAgentCanDo) {
  auto notice = state_notice({events::AgentRef::player(0), events::AgentState::kSuspended,
                              std::string(events::kReasonFailedMatches), "3 matches in a row"});
  EXPECT_EQ(notice.error_code, "E094");
  EXPECT_EQ(notice.retryable, false);
  EXPECT_EQ(notice.context.at("state"), "SUSPENDED");
  EXPECT_EQ(notice.context.at("reason"), "FAILED_MATCHES");
  EXPECT_TRUE(notice.error_description.starts_with(
      "You are SUSPENDED now: FAILED_MATCHES, 3 matches in a row. Your next match begins with a "
      "ping."))
      << notice.error_description;
}

TEST(StateNotice, ARefereeThatIsToEndKeepsItsMatches) {
  const auto notice = state_notice({events::AgentRef::referee(0), events::AgentState::kSuspended,
                                    std::string(events::kReasonDraining)});
  EXPECT_EQ(notice.error_description,
            "You are SUSPENDED now: DRAINING. You keep the matches that you have, and get no other "
            "until you register again.");
}

TEST(StateNotice, EachStateHasItsConsequence) {
  for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
    for (auto state : {events::AgentState::kActive, events::AgentState::kSuspended,
                       events::AgentState::kShutdown}) {
      auto notice = state_notice({{kind, 0}, state, "WHY"});
      EXPECT_TRUE(notice.error_description.ends_with(".")) << notice.error_description;
    }
  }
  EXPECT_EQ(state_conversation(events::AgentRef::player(2)).str(), "convstatep03");
}

}  // namespace
}  // namespace league::league_manager::rounds
