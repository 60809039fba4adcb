#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::PlayedLeague;
using testing::started;
using testing::state_of;

std::string reason_of_end(const PlayedLeague& played, events::MatchKey match) {
  for (const auto& event : played.events) {
    const auto* e = std::get_if<events::MatchForfeited>(&event.body);
    if (e != nullptr && e->match == match) return e->result.technical_reason;
  }
  return "";
}

constexpr events::MatchKey kFirstMatch{1, 1};

/// The agent has failed once more, and the watchdog looks.
void fail(PlayedLeague& played, events::AgentRef agent, core::UtcTimestamp now) {
  played.take({{now, events::FailureCounted{agent, events::FailureKind::kTimeout, std::nullopt}}});
  played.take(played.league.decide_tick(now));
}

TEST(LeagueWatch, ARefereeThatIsToEndKeepsItsMatchesAndGetsNoOther) {
  auto played = started(testing::settings(4, 2));
  const events::AgentRef leaving = events::AgentRef::referee(0);
  ASSERT_EQ(played.league.board().open_count(0), 1);
  played.take(played.league.decide_referee_drain(0, at(1)));
  EXPECT_EQ(state_of(played, leaving), events::AgentState::kSuspended);
  EXPECT_EQ(played.league.board().open_count(0), 1) << "it plays what it has";
  EXPECT_TRUE(played.league.decide_referee_drain(0, at(2)).empty()) << "once is enough";
  EXPECT_TRUE(played.league.decide_alive(leaving, at(2)).empty()) << "that it lives ends nothing";

  // Its report is accepted, and every further match goes to the other one.
  for (int i = 1; i <= 6; ++i) {
    for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
      const int referee = played.league.board().slot(match).referee();
      ASSERT_TRUE(referee == 1 || i == 1);
      EXPECT_FALSE(
          played.report(referee, testing::report_of(played.league, match, 0), at(2 + i)).refusal);
    }
    played.step(at(2 + i));
  }
  EXPECT_EQ(played.league.state(), LeagueState::kCompleted);
  EXPECT_EQ(played.league.status().finished.draws, 6);
  for (const auto& event : played.events)
    EXPECT_FALSE(std::holds_alternative<events::MatchReleased>(event.body))
        << "nothing begins anew";
}

TEST(LeagueWatch, ARefereeThatIsToEndAndFallsSilentLosesItsMatches) {
  auto played = started(testing::settings(4, 2));
  played.take(played.league.decide_referee_drain(0, at(1)));
  played.take(played.league.decide_referee_lost(0, at(2)));
  EXPECT_EQ(played.league.board().open_count(0), 0);
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::referee(0)).lifecycle.reason(),
            events::kReasonDraining);
}

TEST(LeagueWatch, ARefereeThatHasEndedPlaysAgainOnceItIsBack) {
  auto played = started(testing::settings(2, 1));
  played.take(played.league.decide_referee_drain(0, at(1)));
  ASSERT_FALSE(played.report(0, testing::report_of(played.league, kFirstMatch, 0), at(2)).refusal);
  const events::Agent& known = played.league.roster().agent(events::AgentRef::referee(0));
  ASSERT_TRUE(played.enter(
      {events::AgentKind::kReferee, known.profile, known.credential.token_hash, {}}, "n2", at(3)));
  EXPECT_EQ(state_of(played, events::AgentRef::referee(0)), events::AgentState::kActive);
}

TEST(LeagueWatch, GivesAnOverdueMatchToAnotherReferee) {
  auto played = started(testing::settings(2, 2));
  ASSERT_EQ(played.league.board().slot(kFirstMatch).referee(), 0);
  EXPECT_TRUE(played.league.decide_tick(at(179)).empty());
  played.take(played.league.decide_tick(at(180)));
  EXPECT_EQ(played.league.board().slot(kFirstMatch).referee(), 1);
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 2);
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::referee(0)).lifecycle.failed_matches(),
            1);
  EXPECT_TRUE(played.league.decide_tick(at(359)).empty())
      << "the limit counts from the new assignment";
}

TEST(LeagueWatch, NoLimitCountsFromBeforeTheManagerWasLate) {
  auto played = started(testing::settings(2, 2));
  const auto round = static_cast<int>(played.league.round_limit() / std::chrono::seconds(1));
  EXPECT_TRUE(played.league.decide_tick(at(round + 100), at(round)).empty());
  EXPECT_EQ(played.league.board().slot(kFirstMatch).referee(), 0);
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 1);
  played.take(played.league.decide_tick(at(round + 180), at(round)));
  EXPECT_EQ(played.league.board().slot(kFirstMatch).referee(), 1);
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 2);
}

TEST(LeagueWatch, ALatenessOfLongAgoChangesNothing) {
  auto played = started(testing::settings(2, 2));
  played.take(played.league.decide_tick(at(180), at(-1000)));
  EXPECT_EQ(played.league.board().slot(kFirstMatch).referee(), 1);
}

TEST(LeagueWatch, EndsAMatchWhoseAttemptsAreUsedUp) {
  auto played = started(testing::settings(2, 1));
  for (int i = 1; i <= 2; ++i)
    played.take(played.league.decide_assignment_refused(kFirstMatch, 0, at(i)));
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 3);
  played.take(played.league.decide_assignment_refused(kFirstMatch, 0, at(3)));
  EXPECT_EQ(reason_of_end(played, kFirstMatch), events::kReasonNoReferee);
  played.step(at(4));
  EXPECT_EQ(played.league.state(), LeagueState::kCompleted);
  EXPECT_EQ(played.league.status().finished.technical_losses, 1);
}

TEST(LeagueWatch, HoldsRefusalsAgainstNobody) {
  auto played = started(testing::settings(2, 2));
  played.take(played.league.decide_match_refused(kFirstMatch, at(1)));
  EXPECT_EQ(played.league.board().slot(kFirstMatch).referee(), 1)
      << "another one may be allowed to";
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 2);
  for (int i = 2; i <= 3; ++i) played.take(played.league.decide_match_refused(kFirstMatch, at(i)));
  EXPECT_EQ(reason_of_end(played, kFirstMatch), events::kReasonNoReferee);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(played.league.roster().agent(events::AgentRef::referee(i)).lifecycle.failed_matches(),
              0);
  EXPECT_TRUE(played.league.decide_match_refused(kFirstMatch, at(4)).empty());
}

TEST(LeagueWatch, ARoundDoesNotTakeLongerThanItsLimit) {
  auto played = started(testing::settings(2, 2));
  const auto limit = played.league.round_limit();
  EXPECT_EQ(limit, std::chrono::minutes(3) * 3 + std::chrono::minutes(5));
  const int seconds = static_cast<int>(limit / std::chrono::seconds(1));
  // It is taken from the referees again and again, and neither is at fault.
  for (int i = 1; i < seconds; i += 100) {
    const int referee = played.league.board().slot(kFirstMatch).referee();
    played.take(played.league.decide_referee_lost(referee, at(i)));
    played.take(played.league.decide_alive(events::AgentRef::referee(referee), at(i)));
  }
  EXPECT_EQ(reason_of_end(played, kFirstMatch), "");
  played.take(played.league.decide_tick(at(seconds)));
  EXPECT_EQ(reason_of_end(played, kFirstMatch), events::kReasonRoundTimeLimit);
}

TEST(LeagueWatch, WithoutAHealthyRefereeAMatchWaitsAndIsNotEnded) {
  auto played = started(testing::settings(2, 1));
  const int seconds = static_cast<int>(played.league.round_limit() / std::chrono::seconds(1));
  const auto referee = events::AgentRef::referee(0);
  const MatchSlot& slot = played.league.board().slot(kFirstMatch);
  played.take(played.league.decide_referee_lost(0, at(10)));
  played.take(played.league.decide_tick(at(10 * seconds)));
  EXPECT_EQ(slot.status, MatchStatus::kPending);
  played.take(played.league.decide_alive(referee, at(10 * seconds + 1)));
  EXPECT_EQ(slot.status, MatchStatus::kAssigned);
  played.take(played.league.decide_tick(at(10 * seconds + 2)));
  EXPECT_EQ(slot.status, MatchStatus::kAssigned) << "its limit begins again";
  played.take(*played.league.decide_shut_down(referee, events::kReasonShutDownByOperator, "",
                                              at(10 * seconds + 3)));
  played.take(played.league.decide_tick(at(20 * seconds)));
  EXPECT_EQ(slot.status, MatchStatus::kPending) << "a shut-down can be undone";
}

TEST(LeagueWatch, NoMatchEndsBecauseRefereesCrash) {
  auto played = started(testing::settings(2, 2));
  const MatchSlot& slot = played.league.board().slot(kFirstMatch);
  for (int i = 0; i < 20; ++i) {
    const int referee = slot.referee();
    if (i % 2 == 0) {
      played.take(played.league.decide_referee_lost(referee, at(i)));
      played.take(played.league.decide_alive(events::AgentRef::referee(referee), at(i)));
    } else {
      const events::Agent& known = played.league.roster().agent(events::AgentRef::referee(referee));
      ASSERT_TRUE(played.enter({events::AgentKind::kReferee, known.profile,
                                known.credential.token_hash, "process " + std::to_string(i)}));
    }
    ASSERT_EQ(slot.status, MatchStatus::kAssigned) << i;
    ASSERT_NE(slot.referee(), referee) << "the other one has it now";
    ASSERT_EQ(slot.counted_attempts(), 1) << i;
  }
}

TEST(LeagueWatch, ARefereeThatDoesNotPlayGetsNothingWhileAnotherIsThere) {
  auto played = started(testing::settings(4, 2), 2);
  for (int i = 0; i < 3; ++i) fail(played, events::AgentRef::referee(0), at(i));
  ASSERT_EQ(state_of(played, events::AgentRef::referee(0)), events::AgentState::kSuspended);
  EXPECT_TRUE(played.league.decide_alive(events::AgentRef::referee(0), at(4)).empty())
      << "a ping is easy";
  played.take(played.league.decide_referee_lost(1, at(5)));
  played.take(played.league.decide_alive(events::AgentRef::referee(0), at(6)));
  EXPECT_EQ(state_of(played, events::AgentRef::referee(0)), events::AgentState::kActive)
      << "there is no other";
}

TEST(LeagueWatch, ARefusedAssignmentGoesToAnotherAtOnce) {
  auto played = started(testing::settings(2, 2));
  EXPECT_TRUE(played.league.decide_assignment_refused(kFirstMatch, 1, at(1)).empty())
      << "not its own";
  played.take(played.league.decide_assignment_refused(kFirstMatch, 0, at(1)));
  EXPECT_EQ(played.league.board().slot(kFirstMatch).referee(), 1);
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 2);
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::referee(0)).lifecycle.failed_matches(),
            1);
}

TEST(LeagueWatch, GivesARefereeThatAnswersAgainItsMatchesBack) {
  auto played = started(testing::settings(2, 1));
  played.take(played.league.decide_referee_lost(0, at(10)));
  played.take(played.league.decide_alive(events::AgentRef::referee(0), at(20)));
  EXPECT_EQ(state_of(played, events::AgentRef::referee(0)), events::AgentState::kActive);
  EXPECT_EQ(played.league.board().slot(kFirstMatch).attempts, 2);
  EXPECT_TRUE(played.league.decide_alive(events::AgentRef::referee(0), at(21)).empty());
}

TEST(LeagueWatch, TakesTheMatchesOfARefereeThatIsSuspendedForFailures) {
  auto played = started(testing::settings(8, 2), 2);
  for (int i = 0; i < 3; ++i) fail(played, events::AgentRef::referee(0), at(i));
  EXPECT_EQ(state_of(played, events::AgentRef::referee(0)), events::AgentState::kSuspended);
  EXPECT_EQ(played.league.board().open_count(0), 0);
  EXPECT_EQ(played.league.board().open_count(1), 2) << "never more than its capacity";
  EXPECT_EQ(played.league.board().with_status(MatchStatus::kPending).size(), 2u);
}

TEST(LeagueWatch, DecidesTheMatchesOfAPlayerWhoIsShutDown) {
  auto played = started(testing::settings(4, 2));
  events::AgentRef dead = events::AgentRef::player(0);
  played.take(
      *played.league.decide_shut_down(dead, events::kReasonShutDownByOperator, "cheats\n", at(1)));
  ASSERT_EQ(state_of(played, dead), events::AgentState::kShutdown);
  EXPECT_EQ(played.league.roster().agent(dead).lifecycle.detail(), "cheats?");
  EXPECT_FALSE(played.league.decide_shut_down(dead, events::kReasonShutDownByOperator, "", at(2)));
  while (played.league.state() == LeagueState::kRunning) {
    for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
      auto pairing = played.league.match(match)->pairing;
      bool has_dead = pairing.player_a == 0 || pairing.player_b == 0;
      EXPECT_FALSE(has_dead && match.round > 1)
          << "only the match that was under way is still played";
      played.report(played.league.board().slot(match).referee(),
                    testing::report_of(played.league, match, 0));
    }
    played.step(at(20));
  }
  EXPECT_EQ(played.league.standings().tally(0), (Tally{3, 0, 1, 2, 1}));
  EXPECT_EQ(played.league.status().finished, (events::MatchSummary{6, 0, 4, 2}));
}

TEST(LeagueWatch, GivesNobodyPointsWhenBothPlayersAreShutDown) {
  auto played = started(testing::settings(4, 2));
  auto meet = played.league.schedule().pairing({2, 1});  // both are in other matches in round 1
  for (int player : {meet.player_a, meet.player_b}) {
    played.take(*played.league.decide_shut_down(events::AgentRef::player(player),
                                                events::kReasonWithdrawn, "", at(1)));
  }
  for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
    played.report(played.league.board().slot(match).referee(),
                  testing::report_of(played.league, match, 0));
  }
  played.step(at(20));
  auto view = *played.league.match({2, 1});
  ASSERT_TRUE(view.result);
  EXPECT_EQ(view.result->outcome, game::Outcome::kNoWinner);
  EXPECT_EQ(reason_of_end(played, {2, 1}), events::kReasonPlayerShutDown);
  EXPECT_EQ(played.league.standings().tally(meet.player_a).losses, 1);
  EXPECT_EQ(played.league.standings().tally(meet.player_b).losses, 1);
}

TEST(LeagueWatch, AShutDownCanBeUndone) {
  auto played = started(testing::settings(4, 2));
  events::AgentRef gone = events::AgentRef::player(0);
  EXPECT_FALSE(played.league.decide_restore(gone, "", at(0))) << "it is not shut down";
  played.take(*played.league.decide_shut_down(gone, events::kReasonShutDownByOperator, "", at(1)));
  played.take(*played.league.decide_restore(gone, "", at(2)));
  EXPECT_EQ(state_of(played, gone), events::AgentState::kActive);
  EXPECT_EQ(played.league.roster().agent(gone).lifecycle.reason(), events::kReasonRestored);
  while (played.league.state() == LeagueState::kRunning) {
    for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
      played.report(played.league.board().slot(match).referee(),
                    testing::report_of(played.league, match, 0));
    }
    played.step(at(20));
  }
  EXPECT_EQ(played.league.status().finished.technical_losses, 0);
}

TEST(LeagueWatch, ARefereeThatIsShutDownLosesItsMatchesToTheOther) {
  auto played = started(testing::settings(4, 2), 2);
  ASSERT_EQ(played.league.board().open_count(0), 1);
  played.take(*played.league.decide_shut_down(events::AgentRef::referee(0),
                                              events::kReasonShutDownByOperator, "", at(1)));
  EXPECT_EQ(played.league.board().open_count(0), 0);
  EXPECT_EQ(played.league.board().open_count(1), 2);
}

TEST(LeagueWatch, AReportEndsTheTimeoutsOfItsRefereeInARow) {
  auto played = started(testing::settings(4, 1), 2);
  events::AgentRef referee = events::AgentRef::referee(0);
  for (int i = 0; i < 2; ++i) fail(played, referee, at(i));
  ASSERT_FALSE(played.report(0, testing::report_of(played.league, kFirstMatch, 0), at(3)).refusal);
  for (int i = 4; i < 6; ++i) fail(played, referee, at(i));
  EXPECT_EQ(state_of(played, referee), events::AgentState::kActive);
}

TEST(LeagueWatch, EndsARoundThatTakesTooLong) {
  auto settings = testing::settings(4, 1);
  settings.round_time_limit = std::chrono::seconds(60);
  auto played = started(settings);
  EXPECT_TRUE(played.league.decide_tick(at(59)).empty());
  played.take(played.league.decide_tick(at(60)));
  EXPECT_EQ(played.league.board().unfinished(), 0);
  EXPECT_EQ(reason_of_end(played, {1, 1}), events::kReasonRoundTimeLimit);
  EXPECT_EQ(reason_of_end(played, {1, 2}), events::kReasonRoundTimeLimit);
  EXPECT_EQ(played.league.board().open_count(0), 0);
}

TEST(LeagueWatch, CountsNothingBeforeTheStartAndAfterTheEnd) {
  PlayedLeague played(testing::settings(2, 1));
  ASSERT_TRUE(played.enter({events::AgentKind::kPlayer, testing::profile("a", 1), {}, {}}));
  EXPECT_TRUE(played.league.decide_referee_lost(0, at(0)).empty());
  EXPECT_TRUE(played.league.decide_tick(at(100000)).empty());
}

}  // namespace
}  // namespace league::league_manager
