#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;
using testing::PlayedLeague;
using testing::report_of;

/// Four players, two referees with one place each: both matches of round 1 are open, R1M1 with
/// referee 0.
class LeagueReports : public ::testing::Test {
 protected:
  LeagueReports() : played_(testing::settings(4, 2)) {
    played_.enter_all(1);
    played_.step();
  }

  std::optional<ErrorCode> refusal(int referee, const MatchReport& report) {
    auto decision = played_.report(referee, report);
    return decision.refusal ? std::optional(decision.refusal->code) : std::nullopt;
  }
  int events_of(std::size_t index) {
    int count = 0;
    for (const auto& event : played_.events) count += event.body.index() == index ? 1 : 0;
    return count;
  }
  MatchReport right(events::MatchKey match, int kind = 1) {
    return report_of(played_.league, match, kind);
  }

  static constexpr events::MatchKey kFirst{1, 1};
  PlayedLeague played_;
};

TEST_F(LeagueReports, AcceptsTheAssignedReferee) {
  EXPECT_EQ(refusal(0, right(kFirst)), std::nullopt);
  auto view = *played_.league.match(kFirst);
  EXPECT_EQ(view.status, MatchStatus::kFinished);
  EXPECT_EQ(view.result->outcome, game::Outcome::kPlayerAWins);
  EXPECT_EQ(played_.league.standings().tally(view.pairing.player_a).points, 3);
}

TEST_F(LeagueReports, AcceptsAReportWithoutAnAttempt) {
  auto report = right(kFirst);
  report.attempt.reset();
  EXPECT_EQ(refusal(0, report), std::nullopt);
}

TEST_F(LeagueReports, RefusesUnknownAndUnopenedMatches) {
  auto report = right(kFirst);
  report.match = {1, 3};
  EXPECT_EQ(refusal(0, report), ErrorCode::kMatchNotFound);
  report.match = {9, 1};
  EXPECT_EQ(refusal(0, report), ErrorCode::kMatchNotFound);
  report.match = {2, 1};
  EXPECT_EQ(refusal(0, report), ErrorCode::kMatchNotOpen);
}

TEST_F(LeagueReports, RefusesBeforeTheStart) {
  PlayedLeague fresh(testing::settings(4, 1));
  MatchReport report;
  report.match = kFirst;
  EXPECT_EQ(fresh.report(0, report).refusal->code, ErrorCode::kMatchNotFound);
}

TEST_F(LeagueReports, RefusesAnotherReferee) {
  EXPECT_EQ(refusal(1, right(kFirst)), ErrorCode::kNotAssignedReferee);
  EXPECT_EQ(refusal(0, right(kFirst)), std::nullopt);
  EXPECT_EQ(refusal(1, right(kFirst)), ErrorCode::kNotAssignedReferee);
}

TEST_F(LeagueReports, RefusesAWaitingMatch) {
  PlayedLeague small(testing::settings(4, 1));
  small.enter_all(1);
  small.step();
  EXPECT_EQ(small.report(0, report_of(small.league, {1, 2}, 1)).refusal->code,
            ErrorCode::kMatchNotOpen);
}

TEST_F(LeagueReports, RefusesAnInvalidResultAndLeavesTheMatchOpen) {
  auto report = right(kFirst);
  report.claim.drawn_number = *report.claim.drawn_number % 10 + 1;
  EXPECT_EQ(refusal(0, report), ErrorCode::kInvalidResult);
  EXPECT_EQ(refusal(0, right(kFirst)), std::nullopt);
}

TEST_F(LeagueReports, AnswersARepeatTheSameWithoutAnEvent) {
  auto report = right(kFirst);
  ASSERT_EQ(refusal(0, report), std::nullopt);
  auto before = played_.events.size();
  EXPECT_TRUE(played_.report(0, report).is_repeat);
  EXPECT_EQ(played_.events.size(), before);
  EXPECT_EQ(played_.league.status().finished.total_matches, 1);
}

TEST_F(LeagueReports, RecordsConflictsButNotWithoutEnd) {
  auto report = right(kFirst);
  ASSERT_EQ(refusal(0, report), std::nullopt);
  auto other = report_of(played_.league, kFirst, 2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(refusal(0, other), ErrorCode::kResultConflict);
  EXPECT_EQ(events_of(events::EventBody(events::ReportConflictRecorded{}).index()), 3);
  EXPECT_EQ(played_.league.match(kFirst)->result->outcome, game::Outcome::kPlayerAWins)
      << "the first stands";
  EXPECT_TRUE(played_.report(0, report).is_repeat);
}

TEST_F(LeagueReports, ARepeatNamesTheSameGameAndRound) {
  const auto report = right(kFirst);
  ASSERT_EQ(refusal(0, report), std::nullopt);
  auto of_another_game = report;
  of_another_game.game_type = "chess";
  EXPECT_EQ(refusal(0, of_another_game), ErrorCode::kInvalidResult);
  auto of_another_round = report;
  of_another_round.round = 2;
  EXPECT_EQ(refusal(0, of_another_round), ErrorCode::kInvalidResult);
  EXPECT_TRUE(played_.report(0, report).is_repeat);
}

TEST_F(LeagueReports, KnowsThatAnAttemptNeverWas) {
  for (bool is_finished : {false, true}) {
    auto report = right(kFirst);
    report.attempt = 7;
    const auto decision = played_.report(0, report);
    ASSERT_TRUE(decision.refusal);
    EXPECT_EQ(decision.refusal->code, ErrorCode::kStaleAttempt);
    EXPECT_NE(decision.refusal->message.find("there is no attempt 7"), std::string::npos)
        << decision.refusal->message;
    if (is_finished) continue;
    ASSERT_EQ(refusal(0, right(kFirst)), std::nullopt);
  }
  EXPECT_EQ(events_of(events::EventBody(events::StaleReportRecorded{}).index()), 0);
}

TEST_F(LeagueReports, KnowsRepeatsAndConflictsOfEarlierRounds) {
  auto report = right(kFirst);
  ASSERT_EQ(refusal(0, report), std::nullopt);
  ASSERT_EQ(refusal(1, right({1, 2})), std::nullopt);
  played_.step();
  ASSERT_EQ(played_.league.board().round(), 2);
  EXPECT_TRUE(played_.report(0, report).is_repeat);
  auto other = report_of(played_.league, kFirst, 2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(refusal(0, other), ErrorCode::kResultConflict);
  EXPECT_EQ(events_of(events::EventBody(events::ReportConflictRecorded{}).index()), 3);
  EXPECT_EQ(refusal(1, report), ErrorCode::kNotAssignedReferee);
}

TEST_F(LeagueReports, RefusesAndRecordsTheRefereeThatLostTheMatch) {
  auto late = right(kFirst);
  events::DrawSeed seed = played_.league.board().slot(kFirst).seed;
  played_.take(played_.league.decide_referee_lost(0, testing::at(1)));
  EXPECT_EQ(refusal(0, late), ErrorCode::kStaleAttempt) << "while it waits";
  ASSERT_EQ(refusal(1, right({1, 2})), std::nullopt);
  ASSERT_EQ(played_.league.board().slot(kFirst).referee(), 1);
  EXPECT_EQ(played_.league.board().slot(kFirst).attempts, 2);
  EXPECT_EQ(played_.league.board().slot(kFirst).seed, seed) << "the draw stays the same";
  EXPECT_EQ(refusal(0, late), ErrorCode::kStaleAttempt);
  EXPECT_EQ(refusal(1, right(kFirst, 2)), std::nullopt);
  EXPECT_EQ(refusal(0, late), ErrorCode::kStaleAttempt);
  EXPECT_EQ(events_of(events::EventBody(events::StaleReportRecorded{}).index()), 3);
  EXPECT_EQ(played_.league.match(kFirst)->result->outcome, game::Outcome::kPlayerBWins);
}

TEST_F(LeagueReports, BringsTheNextMatchAndRepeatsItWithTheAnswer) {
  PlayedLeague small(testing::settings(6, 1));
  small.enter_all(1);
  small.step();
  auto first = report_of(small.league, kFirst, 1);
  auto decision = small.report(0, first);
  EXPECT_EQ(decision.next_matches, (std::vector<events::MatchKey>{{1, 2}}));
  EXPECT_EQ(small.report(0, first).next_matches, (std::vector<events::MatchKey>{{1, 2}}));
  small.report(0, report_of(small.league, {1, 2}, 1));
  EXPECT_TRUE(small.report(0, first).next_matches.empty())
      << "R1M2 is finished, R1M3 belongs to another answer";
}

TEST_F(LeagueReports, AnswersWithNoMatchWhereTheRefereeDoesNotReadIt) {
  PlayedLeague small(testing::settings(6, 1));
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(small.enter({events::AgentKind::kPlayer,
                             testing::profile("p" + std::to_string(i), 10000 + i),
                             {},
                             {}}));
  auto profile = testing::profile("of other origin", 9000);
  profile.assignments_in_ack = false;
  ASSERT_TRUE(small.enter({events::AgentKind::kReferee, profile, {}, {}}));
  small.step();
  auto decision = small.report(0, report_of(small.league, kFirst, 1));
  EXPECT_TRUE(decision.next_matches.empty());
  const auto* assigned = std::get_if<events::MatchAssigned>(&decision.events.back().body);
  ASSERT_NE(assigned, nullptr);
  EXPECT_EQ(assigned->match, (events::MatchKey{1, 2}));
  EXPECT_FALSE(assigned->after) << "it is told by a ROUND_ANNOUNCEMENT";
}

TEST_F(LeagueReports, CountsALostMatchOnceAndKeepsItsCause) {
  auto report = testing::technical_report_of(played_.league, kFirst);
  auto view = *played_.league.match(kFirst);
  events::AgentRef loser = events::AgentRef::player(view.pairing.player_b);
  const std::string endpoint = played_.league.roster().agent(loser).profile.endpoint;
  report.failures.assign(3, {.player_id = loser.id(),
                             .is_timeout = true,
                             .call = "CHOOSE_PARITY_CALL",
                             .error_code = "E001",
                             .text = "no answer\x1b[2J from " + endpoint + " within 30 s",
                             .has_clock = true});
  report.failures.insert(report.failures.begin(),
                         {.player_id = loser.id(), .call = "GAME_INVITATION"});
  report.failures.push_back({.player_id = "P99"});
  report.failures.push_back({.player_id = "league_manager"});
  ASSERT_EQ(refusal(0, report), std::nullopt);
  EXPECT_EQ(played_.league.roster().agent(loser).lifecycle.failed_matches(), 1);
  ASSERT_EQ(events_of(events::EventBody(events::FailureCounted{}).index()), 1);
  for (const auto& event : played_.events) {
    const auto* failure = std::get_if<events::FailureCounted>(&event.body);
    if (failure == nullptr) continue;
    ASSERT_TRUE(failure->cause);
    EXPECT_EQ(failure->cause->str(), "CHOOSE_PARITY_CALL: E001 TIMEOUT_ERROR");
    EXPECT_EQ(failure->cause->attempts, 3);
    EXPECT_EQ(failure->cause->text, "no answer?[2J from * within 30 s");
  }
}

TEST_F(LeagueReports, AFailureThatWasRepeatedSuccessfullyCountsAsNothing) {
  auto report = right(kFirst);
  auto view = *played_.league.match(kFirst);
  report.failures.assign(1000, {.player_id = events::AgentRef::player(view.pairing.player_b).id(),
                                .kind = events::FailureKind::kValidation});
  ASSERT_EQ(refusal(0, report), std::nullopt);
  EXPECT_EQ(events_of(events::EventBody(events::FailureCounted{}).index()), 0);
}

TEST_F(LeagueReports, ALossForTheRefereesOwnLatenessIsNotHeldAgainstThePlayer) {
  auto report = testing::technical_report_of(played_.league, kFirst);
  auto view = *played_.league.match(kFirst);
  events::AgentRef loser = events::AgentRef::player(view.pairing.player_b);
  report.replays = 3;
  report.failures = {{.player_id = loser.id(),
                      .counts = false,
                      .is_timeout = true,
                      .has_clock = true,
                      .is_void = true}};
  report.claim.technical_reason = "TIMEOUT_CHOICE";
  ASSERT_EQ(refusal(0, report), std::nullopt);
  EXPECT_EQ(played_.league.roster().agent(loser).lifecycle.failed_matches(), 0);
  EXPECT_EQ(events_of(events::EventBody(events::FailureCounted{}).index()), 1)
      << "the cause is kept";
}

}  // namespace
}  // namespace league::league_manager
