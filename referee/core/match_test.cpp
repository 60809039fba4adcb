#include "referee/core/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "referee/core/match_script_testing.h"

namespace league::referee {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MatchScript;

// With the seed zero R1M1 draws 3 for even-even, 4 for even-odd, 1 for odd-even, 3 for odd-odd
// (even_odd_test.cpp).

TEST(Match, PlaysFromInvitationToGameOver) {
  MatchScript script;
  script.play("");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_INVITATION attempt 1 within 5000",
                                               "B GAME_INVITATION attempt 1 within 5000"));
  EXPECT_EQ(script.match().state(), MatchState::kWaitingForPlayers);
  script.play("A:join");
  EXPECT_THAT(script.take_lines(), IsEmpty());
  script.play("B:join");
  EXPECT_THAT(script.take_lines(), ElementsAre("A CHOOSE_PARITY_CALL attempt 1 within 30000",
                                               "B CHOOSE_PARITY_CALL attempt 1 within 30000"));
  EXPECT_EQ(script.match().state(), MatchState::kCollectingChoices);
  script.play("B:odd");
  EXPECT_THAT(script.take_lines(), IsEmpty());
  script.play("A:even");
  EXPECT_THAT(script.take_lines(), ElementsAre("report 1: WIN A 3-0 NORMAL"));
  EXPECT_EQ(script.match().state(), MatchState::kDrawingNumber);
  script.play("ok");
  EXPECT_THAT(script.take_lines(), ElementsAre("GAME_OVER WIN A 3-0 NORMAL", "finished accepted"));
  EXPECT_EQ(script.match().state(), MatchState::kFinished);
}

TEST(Match, TheResultHoldsNumberChoicesAndReason) {
  MatchScript script;
  const RefereedMatch& played = script.play("A:join B:join A:even B:odd").played();
  const game::MatchResult& result = played.result;
  EXPECT_EQ(result.drawn_number, 4);
  EXPECT_EQ(result.choices[Side::kA], "even");
  EXPECT_EQ(result.choices[Side::kB], "odd");
  EXPECT_EQ(played.reason, "The number is 4, which is even: only player A is right.");
  EXPECT_THAT(played.failures, IsEmpty());
}

struct Scenario {
  const char* words;
  const char* result;
};

class MatchScenario : public ::testing::TestWithParam<Scenario> {};

TEST_P(MatchScenario, EndsAsExpected) {
  MatchScript script;
  EXPECT_EQ(script.play(GetParam().words).result_line(), GetParam().result) << GetParam().words;
}

INSTANTIATE_TEST_SUITE_P(
    Played, MatchScenario,
    ::testing::Values(
        Scenario{"A:join B:join A:even B:even", "DRAW - 1-1 NORMAL"},
        Scenario{"A:join B:join A:even B:odd", "WIN A 3-0 NORMAL"},
        Scenario{"A:join B:join A:odd B:even", "WIN A 3-0 NORMAL"},
        Scenario{"B:join A:join B:odd A:odd", "DRAW - 1-1 NORMAL"},
        Scenario{"A:timeout B:join tick A:refused tick A:join A:even B:even", "DRAW - 1-1 NORMAL"},
        Scenario{"A:garbage A:huh A:join B:join A:Even A:wrong A:even B:even", "DRAW - 1-1 NORMAL"},
        Scenario{"A:join B:join A:timeout tick A:timeout tick A:even B:odd", "WIN A 3-0 NORMAL"}));

INSTANTIATE_TEST_SUITE_P(
    LostInTheInvitation, MatchScenario,
    ::testing::Values(
        Scenario{"B:join A:timeout tick A:timeout tick A:timeout",
                 "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN"},
        Scenario{"A:timeout tick A:timeout tick A:timeout", "none"},
        Scenario{"A:timeout tick A:timeout tick A:timeout B:join",
                 "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN"},
        Scenario{"A:join B:refused tick B:refused tick B:refused",
                 "TECHNICAL_LOSS A 3-0 CONNECTION_JOIN"},
        Scenario{"A:join B:timeout tick B:timeout tick B:refused",
                 "TECHNICAL_LOSS A 3-0 CONNECTION_JOIN"},
        Scenario{"A:decline", "none"},
        Scenario{"A:decline B:join", "TECHNICAL_LOSS B 0-3 DECLINED"},
        Scenario{"A:join B:garbage B:garbage B:garbage", "TECHNICAL_LOSS A 3-0 INVALID_REPLY"},
        Scenario{"A:join B:huh B:huh B:huh", "TECHNICAL_LOSS A 3-0 INVALID_REPLY"},
        Scenario{"A:join B:wrong B:wrong B:wrong", "TECHNICAL_LOSS A 3-0 WRONG_MATCH"},
        Scenario{"A:join B:token B:token B:token", "TECHNICAL_LOSS A 3-0 AUTH_FAILED"},
        Scenario{"A:join B:garbage B:timeout tick B:garbage B:refused tick B:garbage",
                 "TECHNICAL_LOSS A 3-0 INVALID_REPLY"},
        Scenario{"A:decline B:decline", "TECHNICAL_LOSS - 0-0 BOTH_FAILED"},
        Scenario{"A:decline B:timeout tick B:timeout tick B:timeout",
                 "TECHNICAL_LOSS - 0-0 BOTH_FAILED"}));

INSTANTIATE_TEST_SUITE_P(
    LostInTheChoice, MatchScenario,
    ::testing::Values(
        Scenario{"A:join B:join B:odd A:timeout tick A:timeout tick A:timeout",
                 "TECHNICAL_LOSS B 0-3 TIMEOUT_CHOICE"},
        Scenario{"A:join B:join A:timeout tick A:timeout tick A:timeout B:timeout", "none"},
        Scenario{"A:join B:join A:odd B:refused tick B:refused tick B:refused",
                 "TECHNICAL_LOSS A 3-0 CONNECTION_CHOICE"},
        Scenario{"A:join B:join A:odd B:Even B:e B:0", "TECHNICAL_LOSS A 3-0 INVALID_CHOICE"},
        Scenario{"A:join B:join A:odd B:wrong B:wrong B:wrong", "TECHNICAL_LOSS A 3-0 WRONG_MATCH"},
        Scenario{"A:join B:join A:odd B:garbage B:x B:garbage",
                 "TECHNICAL_LOSS A 3-0 INVALID_REPLY"},
        Scenario{"A:join B:join A:odd B:token B:token B:token", "TECHNICAL_LOSS A 3-0 AUTH_FAILED"},
        Scenario{"A:garbage A:garbage A:join B:join B:odd A:x A:x A:even", "WIN A 3-0 NORMAL"},
        Scenario{"A:join B:join A:x B:y A:x B:y A:x B:y", "TECHNICAL_LOSS - 0-0 BOTH_FAILED"}));

TEST(Match, AFailedAttemptIsToldAndTriedAgainAfterTheDelay) {
  MatchScript script;
  script.play("B:join");
  (void)script.take_lines();
  script.play("A:timeout");
  EXPECT_THAT(script.take_lines(),
              ElementsAre("A GAME_ERROR E001 1/3 GAME_JOIN_ACK in 2000", "timer 2000"));
  script.play("tick A:refused tick");
  EXPECT_THAT(script.take_lines(),
              ElementsAre("A GAME_INVITATION attempt 2 within 5000",
                          "A GAME_ERROR E009 2/3 GAME_JOIN_ACK in 2000", "timer 2000",
                          "A GAME_INVITATION attempt 3 within 5000"));
  script.play("A:timeout");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E001 3/3 NONE",
                                               "report 1: TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN"));
}

TEST(Match, AnInvalidAnswerIsAskedAgainInWhatIsLeftOfTheWindow) {
  MatchScript script;
  script.play("A:join B:join B:odd");
  (void)script.take_lines();
  script.play("+10000 A:Even");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E004 1/3 CHOOSE_PARITY_RESPONSE in 0",
                                               "A CHOOSE_PARITY_CALL attempt 1 within 20000"));
  script.play("+5000 A:wrong");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E015 2/3 CHOOSE_PARITY_RESPONSE in 0",
                                               "A CHOOSE_PARITY_CALL attempt 1 within 15000"));
  script.play("+5000 A:garbage");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E010 3/3 NONE",
                                               "report 1: TECHNICAL_LOSS B 0-3 INVALID_REPLY"));
}

TEST(Match, ANewAttemptHasAWholeWindowAgain) {
  MatchScript script;
  script.play("A:join B:join B:odd +10000 A:x A:timeout");
  (void)script.take_lines();
  script.play("tick");
  EXPECT_THAT(script.take_lines(), ElementsAre("A CHOOSE_PARITY_CALL attempt 2 within 30000"));
}

TEST(Match, AnInvalidAnswerAtTheEndOfTheWindowCostsTheAttempt) {
  MatchScript script;
  script.play("A:join B:join B:odd");
  (void)script.take_lines();
  script.play("+30000 A:x");
  EXPECT_THAT(script.take_lines(),
              ElementsAre("A GAME_ERROR E004 1/3 CHOOSE_PARITY_RESPONSE in 2000", "timer 2000"));
}

TEST(Match, FailuresAreRecordedWithCallCodeAttemptAndTime) {
  MatchScript script;
  script.play("B:join +100 A:refused tick +200 A:join A:odd B:Even B:odd");
  const auto& failures = script.played().failures;
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].player.str(), "P01");
  EXPECT_EQ(failures[0].call, Call::kInvitation);
  EXPECT_EQ(failures[0].code, core::ErrorCode::kConnectionError);
  EXPECT_EQ(failures[0].attempt, 1);
  EXPECT_EQ(failures[0].elapsed, std::chrono::milliseconds(100));
  EXPECT_EQ(failures[1].player.str(), "P02");
  EXPECT_EQ(failures[1].call, Call::kChooseParity);
  EXPECT_EQ(failures[1].code, core::ErrorCode::kInvalidParityChoice);
}

TEST(Match, ATechnicalLossDrawsNothingAndShowsOnlyWhatWasChosen) {
  MatchScript script;
  const RefereedMatch& played = script.play("A:join B:join A:odd B:x B:x B:x").played();
  const game::MatchResult& result = played.result;
  EXPECT_EQ(result.drawn_number, std::nullopt);
  EXPECT_EQ(result.choices[Side::kA], "odd");
  EXPECT_EQ(result.choices[Side::kB], std::nullopt);
  EXPECT_EQ(played.lost_by[Side::kA], std::nullopt);
  EXPECT_EQ(played.lost_by[Side::kB], Termination::kInvalidChoice);
  EXPECT_EQ(result.technical_reason, "INVALID_CHOICE");
  EXPECT_EQ(played.reason, "Technical loss of P02: INVALID_CHOICE");
}

TEST(Match, ADeclineIsToldAtOnceAndIsFinal) {
  MatchScript script;
  script.play("");
  (void)script.take_lines();
  script.play("A:decline");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E037 0/0 NONE"));
}

TEST(Match, AnUnavailablePlayerLosesUnaskedButTheOtherIsAsked) {
  MatchPlan plan = MatchScript::default_plan();
  plan.seats[Side::kA].is_unavailable = true;
  MatchScript script(plan);
  script.play("");
  EXPECT_THAT(script.take_lines(), ElementsAre("B GAME_INVITATION attempt 1 within 5000"));
  script.play("B:join");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 PLAYER_UNAVAILABLE");
  EXPECT_EQ(script.played().failures.at(0).code, core::ErrorCode::kPlayerUnavailable);
  EXPECT_EQ(script.played().failures.at(0).attempt, 1) << "attempts count from 1, asked or not";
}

TEST(Match, ASuspendedPlayerHasOneAttemptPerCall) {
  MatchPlan plan = MatchScript::default_plan();
  plan.seats[Side::kA].is_suspended = true;
  MatchScript script(plan);
  script.play("B:join A:timeout");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN");
  MatchScript second(plan);
  second.play("A:join B:join A:Even A:even B:even");
  EXPECT_TRUE(second.result_line().starts_with("DRAW"))
      << "an invalid answer can still be corrected within the attempt";
}

TEST(Match, APersonHasLongLimitsAndOneAttemptPerCallAndItsOpponentTheUsualOnes) {
  using std::chrono::seconds;
  MatchPlan plan = MatchScript::default_plan();
  plan.seats[Side::kA].own_limits = OwnLimits{seconds(60), seconds(50)};
  MatchScript script(plan);
  script.play("");
  EXPECT_EQ(script.limit(Side::kA), seconds(60));
  EXPECT_EQ(script.limit(Side::kB), seconds(5));
  script.play("B:join A:join");
  EXPECT_EQ(script.limit(Side::kA), seconds(50));
  EXPECT_EQ(script.limit(Side::kB), seconds(30));
  script.play("B:even A:timeout");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_CHOICE");
  EXPECT_EQ(script.played().failures.at(0).clock->limit, seconds(50)) << "what verifiers judge by";
  MatchScript second(plan);
  second.play("B:join A:timeout");
  EXPECT_EQ(second.result_line(), "TECHNICAL_LOSS B 0-3 TIMEOUT_JOIN");
}

TEST(Match, TwoUnavailablePlayersAreReportedAtOnce) {
  MatchPlan plan = MatchScript::default_plan();
  for (Side side : kBothSides) plan.seats[side].is_unavailable = true;
  MatchScript script(plan);
  script.play("");
  EXPECT_THAT(script.take_lines(), ElementsAre("report 1: TECHNICAL_LOSS - 0-0 BOTH_FAILED"));
}

TEST(Match, WhatComesLateOrTwiceIsIgnored) {
  MatchScript script;
  script.play("B:join");
  const CallId first = script.awaited(Side::kA);
  script.play("A:timeout");
  EXPECT_THAT(script.match().on_reply(first, JoinAnswer{}, script.now()), IsEmpty());
  script.play("tick");
  EXPECT_THAT(script.match().on_reply(first, JoinAnswer{}, script.now()), IsEmpty());
  EXPECT_THAT(script.match().on_failure(first, {core::ErrorCode::kTimeout, "", ""}, script.now()),
              IsEmpty());
  const CallId second = script.awaited(Side::kA);
  script.play("A:join");
  EXPECT_EQ(script.match().state(), MatchState::kCollectingChoices);
  EXPECT_THAT(script.match().on_reply(second, JoinAnswer{"", false}, script.now()), IsEmpty());
  EXPECT_THAT(script.match().on_report_accepted(), IsEmpty());
  EXPECT_THAT(script.match().start(script.now()), IsEmpty());
}

TEST(Match, AReplyThatNamesNoMatchIsTaken) {
  MatchScript script;
  script.play("B:join");
  script.take(
      script.match().on_reply(script.awaited(Side::kA), JoinAnswer{"", true}, script.now()));
  EXPECT_EQ(script.match().state(), MatchState::kCollectingChoices);
}

TEST(Match, AReportThatDoesNotArriveIsRepeatedWithGrowingDelays) {
  MatchPlan plan = MatchScript::default_plan();
  plan.settings.max_report_attempts = 7;
  MatchScript script(plan);
  script.play("A:decline B:decline");
  (void)script.take_lines();
  script.play("E001 tick E009 tick E091 tick E001 tick E001 tick E001 tick E001");
  const std::string result = "TECHNICAL_LOSS - 0-0 BOTH_FAILED";
  EXPECT_THAT(script.take_lines(),
              ElementsAre("timer 2000", "report 2: " + result, "timer 4000", "report 3: " + result,
                          "timer 8000", "report 4: " + result, "timer 16000", "report 5: " + result,
                          "timer 30000", "report 6: " + result, "timer 30000",
                          "report 7: " + result, "finished unreported E001"));
}

TEST(Match, AReportThatIsRefusedEndsTheMatchWithoutGameOver) {
  MatchScript script;
  script.play("A:join B:join A:even B:odd");
  (void)script.take_lines();
  script.play("E033");
  EXPECT_THAT(script.take_lines(), ElementsAre("finished refused E033"));
  EXPECT_EQ(script.match().snapshot().played, std::nullopt)
      << "the match is played again elsewhere";
}

TEST(Match, AnAbandonedMatchDecidesNothing) {
  MatchScript script;
  script.play("A:join B:join A:even");
  (void)script.take_lines();
  script.take(script.match().abandon());
  EXPECT_THAT(script.take_lines(), ElementsAre("finished abandoned"));
  script.play("B:odd ok");
  EXPECT_THAT(script.take_lines(), IsEmpty());
  EXPECT_THAT(script.match().abandon(), IsEmpty());
}

TEST(Match, OurOwnShutdownIsNobodysLoss) {
  MatchScript script;
  script.play("B:join");
  (void)script.take_lines();
  script.take(script.match().on_failure(script.awaited(Side::kA),
                                        {core::ErrorCode::kShuttingDown, "", ""}, script.now()));
  EXPECT_THAT(script.take_lines(), ElementsAre("finished abandoned"));
}

TEST(MatchSnapshot, ShowsChoicesOnlyWhenTheResultIsAccepted) {
  MatchScript script;
  script.play("A:join B:join A:even");
  MatchSnapshot view = script.match().snapshot();
  EXPECT_EQ(view.state, MatchState::kCollectingChoices);
  EXPECT_EQ(view.match_id.str(), "R1M1");
  EXPECT_EQ(view.game_type, "even_odd");
  EXPECT_EQ(view.players[Side::kB].str(), "P02");
  EXPECT_EQ(view.seats[Side::kA], SeatState::kAnswered);
  EXPECT_EQ(view.seats[Side::kB], SeatState::kAsked);
  EXPECT_EQ(view.played, std::nullopt);
  script.play("B:odd");
  EXPECT_EQ(script.match().snapshot().played, std::nullopt);
  script.play("ok");
  view = script.match().snapshot();
  EXPECT_EQ(view.state, MatchState::kFinished);
  ASSERT_TRUE(view.played);
  EXPECT_EQ(view.played->result.choices[Side::kA], "even");
}

}  // namespace
}  // namespace league::referee
