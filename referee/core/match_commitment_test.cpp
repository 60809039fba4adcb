// Protocol §7, "Players can bind themselves": the referee's part of each sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "game/judge.h"
#include "referee/core/match_script_testing.h"

namespace league::referee {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MatchScript;

// With the seed zero R1M1 draws for odd-even, by ten lines of Python: 1 unbound, 2 where A alone is
// bound, 10 where both are.

std::vector<CallPlayer> choice_calls(const MatchScript& script, Side side) {
  std::vector<CallPlayer> calls;
  for (const Effect& effect : script.effects()) {
    const auto* call = std::get_if<CallPlayer>(&effect);
    if (call && call->side == side && call->call == Call::kChooseParity) calls.push_back(*call);
  }
  return calls;
}

MatchPlan plan_without_promise() {
  MatchPlan plan = MatchScript::default_plan();
  plan.draw_commitment.reset();
  return plan;
}

TEST(Commitment, BothNoncesEnterTheDraw) {
  MatchScript script;
  const auto& match = script.play("A:commit-odd B:commit-even A:open-odd B:open-even").played();
  EXPECT_EQ(match.result.drawn_number, 10);
  EXPECT_EQ(match.result.outcome, game::Outcome::kPlayerBWins);
  EXPECT_EQ(game::draw_version(match.bindings), 2);
  for (Side side : kBothSides) {
    EXPECT_EQ(match.bindings.commitments[side],
              MatchScript::commitment(side, side == Side::kA ? "odd" : "even"));
    EXPECT_EQ(match.bindings.nonces[side], MatchScript::nonce(side));
  }
}

TEST(Commitment, OneIsEnoughForVersionTwo) {
  MatchScript script;
  const auto& match = script.play("A:commit-odd B:join A:open-odd B:even").played();
  EXPECT_EQ(match.result.drawn_number, 2);
  EXPECT_EQ(game::fairness_of(match.bindings), game::Fairness::kOne);
}

TEST(Commitment, WithoutAnyTheDrawIsAsItWas) {
  MatchScript script;
  const auto& match = script.play("A:join B:join A:odd B:even").played();
  EXPECT_EQ(match.result.drawn_number, 1);
  EXPECT_EQ(match.bindings, game::Bindings{});
}

TEST(Commitment, APlayerThatDeclaredReceiptsHasToCommit) {
  MatchPlan plan = MatchScript::default_plan();
  plan.seats[Side::kA].has_receipts = true;
  MatchScript script(plan);
  script.play("B:join A:join A:join A:join");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 COMMITMENT_MISMATCH");
  plan.draw_commitment.reset();
  MatchScript without_promise(plan);
  without_promise.play("A:join B:join A:odd B:even");
  EXPECT_EQ(without_promise.played().termination(), Termination::kNormal);
}

TEST(Commitment, AnswersPassTheirReceiptsOn) {
  MatchScript script;
  script.play("");
  const auto give = [&script](Side side, Reply reply) {
    script.take(script.match().on_reply(script.awaited(side), reply, script.now()));
  };
  give(Side::kA, JoinAnswer{.match_id = "R1M1", .receipt = "join of A"});
  give(Side::kB, JoinAnswer{.match_id = "R1M1", .receipt = "join of B"});
  EXPECT_EQ(choice_calls(script, Side::kA).back().play, 0);
  give(Side::kA, ChoiceAnswer{.match_id = "R1M1", .choice = "odd", .receipt = "choice of A"});
  give(Side::kB, ChoiceAnswer{.match_id = "R1M1", .choice = "even"});
  EXPECT_EQ(script.played().receipts[Side::kA],
            (AnswerReceipts{.join = "join of A", .choice = "choice of A"}));
  EXPECT_EQ(script.played().receipts[Side::kB],
            (AnswerReceipts{.join = "join of B", .choice = std::nullopt}));
}

TEST(Commitment, AReplayIsAnotherPlay) {
  MatchScript script;
  script.play("A:join B:join A:odd B:wronged tick B:wronged tick B:wronged tick A:join B:join");
  EXPECT_EQ(choice_calls(script, Side::kA).back().play, 1);
}

TEST(Phase, SaysHowFarAFailedCallCame) {
  MatchScript script;
  script.play("A:refused B:garbage");
  const auto late = core::Error{core::ErrorCode::kTimeout, "late", ""};
  script.play("tick");
  script.take(script.match().on_failure(script.awaited(Side::kA), late, script.now(),
                                        {.sent_at = script.now(), .own = {}}));
  script.play("tick A:refused B:decline");
  const auto& failures = script.played().failures;
  ASSERT_EQ(failures.size(), 5U);
  EXPECT_EQ(failures[0].phase, CallPhase::kConnect);
  EXPECT_EQ(failures[1].phase, CallPhase::kAnswered);
  EXPECT_EQ(failures[2].phase, CallPhase::kSent);
  EXPECT_EQ(failures[3].phase, CallPhase::kConnect);
  EXPECT_EQ(failures[4].phase, CallPhase::kAnswered);
}

TEST(Commitment, AMalformedOneIsAnInvalidAnswer) {
  MatchScript script;
  script.play("B:join");
  (void)script.take_lines();
  script.play("A:commit-even-junk");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E023 1/3 GAME_JOIN_ACK in 0",
                                               "A GAME_INVITATION attempt 1 within 5000"));
  script.play("A:commit-even-junk A:commit-even-junk");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 INVALID_REPLY");
}

TEST(Commitment, WithoutAPromisedSeedNobodyCommits) {
  MatchScript script(plan_without_promise());
  script.play("A:commit-odd B:commit-even-junk");
  EXPECT_EQ(choice_calls(script, Side::kB).at(0).opponent_commitment, std::nullopt);
  EXPECT_FALSE(choice_calls(script, Side::kA).at(0).is_bound);
  const auto& match = script.play("A:even B:open-odd").played();
  EXPECT_EQ(match.bindings, game::Bindings{});
  EXPECT_EQ(match.result.drawn_number, 4) << "even-odd, unbound";
}

TEST(Commitment, CallsLeaveOnlyWhenBothHaveJoined) {
  MatchScript script;
  script.play("A:commit-odd");
  EXPECT_THAT(choice_calls(script, Side::kA), IsEmpty());
  EXPECT_THAT(choice_calls(script, Side::kB), IsEmpty());
  script.play("B:timeout tick");
  EXPECT_THAT(choice_calls(script, Side::kB), IsEmpty());
  script.play("B:commit-even");
  EXPECT_EQ(choice_calls(script, Side::kA).size(), 1U);
  EXPECT_EQ(choice_calls(script, Side::kB).size(), 1U);
}

TEST(Commitment, EachCallCarriesTheOpponentsAndRepetitionsTheSame) {
  MatchScript script;
  script.play("A:commit-odd B:commit-even B:Even B:timeout tick B:open-even");
  const auto to_b = choice_calls(script, Side::kB);
  ASSERT_EQ(to_b.size(), 3U);
  for (const CallPlayer& call : to_b) {
    EXPECT_EQ(call.opponent_commitment, MatchScript::commitment(Side::kA, "odd"));
    EXPECT_TRUE(call.is_bound);
  }
  EXPECT_EQ(choice_calls(script, Side::kA).at(0).opponent_commitment,
            MatchScript::commitment(Side::kB, "even"));
}

TEST(Commitment, AnAbsentOneMeansThatTheOpponentHasNone) {
  MatchScript script;
  script.play("A:commit-odd B:join");
  EXPECT_EQ(choice_calls(script, Side::kA).at(0).opponent_commitment, std::nullopt);
  EXPECT_TRUE(choice_calls(script, Side::kA).at(0).is_bound);
  EXPECT_FALSE(choice_calls(script, Side::kB).at(0).is_bound);
}

struct Opening {
  const char* name;
  const char* word;
};
void PrintTo(const Opening& opening, std::ostream* out) { *out << opening.name; }

class BadOpening : public ::testing::TestWithParam<Opening> {};

TEST_P(BadOpening, IsAnInvalidAnswerAndThreeLoseTheMatch) {
  MatchScript script;
  script.play("A:commit-odd B:commit-even B:open-even");
  (void)script.take_lines();
  const std::string word = std::string("A:") + GetParam().word;
  script.play(word);
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E040 1/3 CHOOSE_PARITY_RESPONSE in 0",
                                               "A CHOOSE_PARITY_CALL attempt 1 within 30000"));
  script.play(word + " " + word);
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 COMMITMENT_MISMATCH");
  const auto& match = script.played();
  EXPECT_EQ(match.result.drawn_number, std::nullopt) << "no draw takes place";
  EXPECT_EQ(match.result.choices[Side::kA], std::nullopt);
  EXPECT_EQ(match.bindings.commitments[Side::kA], MatchScript::commitment(Side::kA, "odd"));
  EXPECT_EQ(match.bindings.nonces[Side::kA], std::nullopt) << "it has opened nothing";
  EXPECT_EQ(match.bindings.nonces[Side::kB], MatchScript::nonce(Side::kB));
  ASSERT_EQ(match.failures.size(), 3U);
  EXPECT_EQ(match.failures[0].code, core::ErrorCode::kCommitmentMismatch);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadOpening,
                         ::testing::Values(Opening{"no nonce", "odd"},
                                           Opening{"another nonce", "open-odd-2"},
                                           Opening{"no nonce at all", "open-odd-junk"},
                                           Opening{"another choice", "open-even"},
                                           Opening{"another choice, no nonce", "even"}));

TEST(Commitment, WhoOpensInTheEndHasLostNothing) {
  MatchScript script;
  script.play("A:commit-odd B:commit-even B:open-even A:odd A:open-even A:open-odd");
  EXPECT_EQ(script.played().result.drawn_number, 10);
  EXPECT_EQ(script.played().termination(), Termination::kNormal);
}

TEST(Commitment, AWordThatIsNoneIsStillE004) {
  MatchScript script;
  script.play("A:commit-odd B:commit-even");
  (void)script.take_lines();
  script.play("A:open-Odd");
  EXPECT_THAT(script.take_lines(), ElementsAre("A GAME_ERROR E004 1/3 CHOOSE_PARITY_RESPONSE in 0",
                                               "A CHOOSE_PARITY_CALL attempt 1 within 30000"));
}

TEST(Commitment, ANonceWithoutOneThatCountsDoesNotEnter) {
  MatchScript script;
  const auto& match = script.play("A:join B:join A:open-odd B:open-even-junk").played();
  EXPECT_EQ(match.result.drawn_number, 1);
  EXPECT_EQ(match.bindings, game::Bindings{});
  MatchScript beside;
  EXPECT_EQ(beside.play("A:commit-odd B:join A:open-odd B:open-even").played().result.drawn_number,
            2)
      << "nor beside one that counts";
  EXPECT_EQ(beside.played().bindings.nonces[Side::kB], std::nullopt);
}

TEST(Commitment, OneThatTheOpponentWasNeverShownDoesNotCount) {
  MatchScript script;
  const auto& match = script.play("A:commit-odd B:decline").played();
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS A 3-0 DECLINED");
  EXPECT_EQ(match.bindings, game::Bindings{});
}

TEST(Commitment, TheFirstAcceptedJoinCounts) {
  MatchScript script;
  script.play("B:commit-even");
  const CallId first = script.awaited(Side::kA);
  script.play("A:timeout tick");
  // The answer to the first invitation comes too late to be taken ...
  script.take(script.match().on_reply(
      first, JoinAnswer{"", true, MatchScript::commitment(Side::kA, "even")}, script.now()));
  const CallId second = script.awaited(Side::kA);
  script.play("A:commit-odd");
  // ... and one that comes after the accepted one changes nothing.
  script.take(script.match().on_reply(
      second, JoinAnswer{"", true, MatchScript::commitment(Side::kA, "even")}, script.now()));
  EXPECT_EQ(choice_calls(script, Side::kB).at(0).opponent_commitment,
            MatchScript::commitment(Side::kA, "odd"));
  EXPECT_EQ(script.play("B:open-even A:open-odd").played().termination(), Termination::kNormal);
}

TEST(Commitment, AnInvalidJoinLeavesNoCommitment) {
  MatchScript script;
  script.play("B:join");
  script.take(script.match().on_reply(
      script.awaited(Side::kA), JoinAnswer{"R9M9", true, MatchScript::commitment(Side::kA, "even")},
      script.now()));
  script.play("A:join");
  EXPECT_FALSE(choice_calls(script, Side::kA).at(0).is_bound);
}

/// Plays to the choices and lets B reveal, then voids the match, because the referee was late.
constexpr const char* kVoided = " A:wronged tick A:timeout tick A:timeout tick ";

TEST(CommitmentInAReplay, BothHold) {
  MatchScript script;
  script.play(std::string("A:commit-odd B:commit-even B:open-even") + kVoided);
  const auto& match = script.play("A:commit-odd B:commit-even A:open-odd B:open-even").played();
  EXPECT_EQ(match.replays, 1);
  EXPECT_EQ(match.result.drawn_number, 10);
}

struct Replayed {
  const char* name;
  const char* word;
};
void PrintTo(const Replayed& replayed, std::ostream* out) { *out << replayed.name; }

class BrokenInAReplay : public ::testing::TestWithParam<Replayed> {};

TEST_P(BrokenInAReplay, IsAnInvalidAnswer) {
  MatchScript script;
  script.play(std::string("A:commit-odd B:commit-even B:open-even") + kVoided + "A:commit-odd");
  (void)script.take_lines();
  const std::string word = std::string("B:") + GetParam().word;
  script.play(word);
  EXPECT_THAT(script.take_lines(), ElementsAre("B GAME_ERROR E040 1/3 GAME_JOIN_ACK in 0",
                                               "B GAME_INVITATION attempt 1 within 5000"));
  script.play(word + " " + word);
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS A 3-0 COMMITMENT_MISMATCH");
  EXPECT_EQ(game::fairness_of(script.played().bindings), game::Fairness::kBoth)
      << "they counted, and the report says so";
}

INSTANTIATE_TEST_SUITE_P(Kinds, BrokenInAReplay,
                         ::testing::Values(Replayed{"missing", "join"},
                                           Replayed{"to another choice", "commit-odd"},
                                           Replayed{"with another nonce", "commit-even-2"}));

TEST(CommitmentInAReplay, WhoAloneHadCommittedTakesAFreshOne) {
  MatchScript script;
  // A alone is bound and reveals; B's loss for time is void.
  script.play("A:commit-odd B:join A:open-odd B:wronged tick B:timeout tick B:timeout tick");
  const auto& match = script.play("A:commit-even-2 B:join A:open-even-2 B:odd").played();
  EXPECT_EQ(match.replays, 1);
  EXPECT_EQ(match.bindings.commitments[Side::kA], MatchScript::commitment(Side::kA, "even", 2));
  EXPECT_EQ(match.bindings.nonces[Side::kA], MatchScript::nonce(Side::kA, 2));
}

TEST(CommitmentInAReplay, TheOldNonceDoesNotOpenTheFreshOne) {
  MatchScript script;
  script.play("A:commit-odd B:join A:open-odd B:wronged tick B:timeout tick B:timeout tick");
  script.play("A:commit-odd-2 B:join B:odd A:open-odd A:open-odd A:open-odd");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 COMMITMENT_MISMATCH");
}

TEST(CommitmentInAReplay, NobodyIsHeldToOneThatDidNotCount) {
  MatchScript script;
  // B's loss for time in the invitation is void: A's commitment has never left.
  script.play("A:commit-odd B:wronged tick B:timeout tick B:timeout tick");
  const auto& match = script.play("A:join B:join A:odd B:even").played();
  EXPECT_EQ(match.replays, 1);
  EXPECT_EQ(match.bindings, game::Bindings{});
}

TEST(CommitmentInAReplay, BothMayBeginToCommit) {
  MatchScript script;
  script.play("A:join B:join A:odd B:wronged tick B:timeout tick B:timeout tick");
  const auto& match = script.play("A:commit-odd B:commit-even A:open-odd B:open-even").played();
  EXPECT_EQ(match.result.drawn_number, 10);
}

TEST(CommitmentInAReplay, WhatWasOpenedBeforeIsNotReported) {
  MatchScript script;
  script.play(std::string("A:commit-odd B:commit-even B:open-even") + kVoided + "A:decline B:join");
  script.play("B:commit-even");
  EXPECT_EQ(script.result_line(), "TECHNICAL_LOSS B 0-3 DECLINED");
  const auto& match = script.played();
  EXPECT_EQ(match.result.choices[Side::kB], std::nullopt);
  EXPECT_EQ(match.bindings.nonces, (PerSide<std::optional<std::string>>{}));
}

TEST(CommitmentSecrecy, NothingShowsANonceOrAChoiceBeforeTheResultIsAccepted) {
  MatchScript script;
  script.play("A:commit-odd B:commit-even A:open-odd B:open-odd B:open-even-2 B:open-even");
  EXPECT_EQ(script.match().snapshot().played, std::nullopt);
  int errors = 0;
  for (const Effect& effect : script.effects()) {
    const auto* told = std::get_if<SendGameError>(&effect);
    if (!told) continue;
    ++errors;
    for (const std::string& text : {told->error.message, told->consequence}) {
      EXPECT_EQ(text.find(std::string(8, 'a')), std::string::npos) << text;
      EXPECT_EQ(text.find(std::string(8, 'b')), std::string::npos) << text;
      EXPECT_EQ(text.find(std::string(8, 'd')), std::string::npos) << text;
      EXPECT_EQ(text.find("odd"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(errors, 2);
  script.play("ok");
  ASSERT_TRUE(script.match().snapshot().played);
  EXPECT_EQ(script.match().snapshot().played->bindings.nonces[Side::kA],
            MatchScript::nonce(Side::kA));
}

}  // namespace
}  // namespace league::referee
