#include <gtest/gtest.h>

#include <algorithm>

#include "referee/core/match_script_testing.h"

namespace league::referee {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::MatchScript;

ClockProof proof(Duration limit, OwnDelay own) {
  return {.limit = limit, .sent_at = {}, .gave_up_at = {}, .own = own};
}

TEST(ClockProofTest, TheLargerOfFivePercentAndFiftyMillisecondsIsAllowed) {
  EXPECT_EQ(core::allowed_own_delay(seconds(30)), milliseconds(1500));
  EXPECT_EQ(core::allowed_own_delay(seconds(5)), milliseconds(250));
  EXPECT_EQ(core::allowed_own_delay(milliseconds(1000)), milliseconds(50));
  EXPECT_EQ(core::allowed_own_delay(milliseconds(10)), milliseconds(50));
}

TEST(ClockProofTest, EitherDelayMakesATimeOutVoid) {
  EXPECT_FALSE(is_void(proof(seconds(5), {})));
  EXPECT_FALSE(is_void(proof(seconds(5), {milliseconds(250), milliseconds(250)})));
  EXPECT_TRUE(is_void(proof(seconds(5), {milliseconds(251), {}})));
  EXPECT_TRUE(is_void(proof(seconds(5), {{}, milliseconds(251)})));
  EXPECT_TRUE(is_void(proof(seconds(5), {{}, {}, milliseconds(251)})));
}

TEST(FairClock, WaitingForASeatOnPurposeIsNoDelay) {
  MatchPlan plan = MatchScript::default_plan();
  plan.settings.max_attempts = 1;
  MatchScript script(plan);
  script.play("B:join +6000");
  const core::Error timeout{core::ErrorCode::kTimeout, "scripted", ""};
  script.take(script.match().on_failure(script.awaited(Side::kA), timeout, script.now(),
                                        {.sent_at = {}, .own = {}, .grace = seconds(1)}));
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN");
  EXPECT_FALSE(is_void(*script.played().failures.front().clock));
}

TEST(FairClock, ALossForTimeThatIsOursIsPlayedAgainFromTheInvitation) {
  MatchScript script;
  script.play("A:join B:join B:odd A:timeout tick A:wronged tick");
  (void)script.take_lines();
  script.play("A:timeout");
  EXPECT_EQ(script.take_lines(),
            (std::vector<std::string>{"A GAME_ERROR E001 3/3 GAME_JOIN_ACK", "timer 2000"}));
  EXPECT_EQ(script.result_line(), "none");
  script.play("tick");
  EXPECT_EQ(script.take_lines(),
            (std::vector<std::string>{"A GAME_INVITATION attempt 1 within 5000",
                                      "B GAME_INVITATION attempt 1 within 5000"}));
  script.play("A:join B:join A:odd B:even");
  EXPECT_EQ(script.played().termination(), Termination::kNormal);
  EXPECT_EQ(script.played().replays, 1);
  ASSERT_EQ(script.played().failures.size(), 3U) << "what happened stays in the report";
  EXPECT_TRUE(is_void(*script.played().failures[1].clock));
  EXPECT_FALSE(is_void(*script.played().failures[2].clock));
}

TEST(FairClock, AfterThreeReplaysTheLossStandsWithItsProof) {
  MatchScript script;
  for (int play = 1; play <= 4; ++play) {
    EXPECT_EQ(script.result_line(), "none") << play;
    if (play > 1) script.play("tick");
    script.play("B:join A:wronged tick A:wronged tick A:wronged");
  }
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN");
  EXPECT_EQ(script.played().replays, 3);
  EXPECT_EQ(script.played().failures.size(), 12U);
  EXPECT_TRUE(std::ranges::all_of(script.played().failures,
                                  [](const FailureRecord& one) { return is_void(*one.clock); }));
}

TEST(FairClock, APlayersOwnTimeOutsCountAndCarryTheirProof) {
  MatchScript script;
  script.play("B:join A:timeout tick A:timeout tick A:timeout");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN");
  EXPECT_EQ(script.played().replays, 0);
  for (const FailureRecord& failure : script.played().failures) {
    ASSERT_TRUE(failure.clock);
    EXPECT_EQ(failure.clock->limit, seconds(5));
    EXPECT_FALSE(is_void(*failure.clock));
  }
}

TEST(FairClock, AnAnswerInTimeMendsAWrong) {
  MatchScript script;
  script.play("A:wronged tick A:join B:join A:even B:even");
  EXPECT_EQ(script.played().termination(), Termination::kNormal);
  EXPECT_EQ(script.played().replays, 0);
}

TEST(FairClock, LossesForOtherReasonsStand) {
  MatchScript script;
  script.play("B:join A:wronged tick A:refused tick A:refused");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 CONNECTION_JOIN");
  MatchScript declined;
  declined.play("B:join A:wronged tick A:decline");
  EXPECT_EQ(declined.result_line(), "TECHNICAL_LOSS B 0-3 DECLINED");
}

TEST(FairClock, AnEndOfTheWaitThatIsNoticedLateIsOurDelay) {
  MatchScript script;
  script.play("B:join A:timeout tick A:timeout tick +5251 A:timeout");
  EXPECT_EQ(script.result_line(), "none");
  MatchScript in_time;
  in_time.play("B:join A:timeout tick A:timeout tick +5250 A:timeout");
  EXPECT_EQ(in_time.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN");
}

TEST(FairClock, AMatchThatIsGivenUpIsNotPlayedAgain) {
  MatchScript script;
  script.play("B:join A:wronged tick A:wronged tick A:wronged");
  script.take(script.match().abandon());
  (void)script.take_lines();
  script.play("tick");
  EXPECT_TRUE(script.take_lines().empty());
}

}  // namespace
}  // namespace league::referee
