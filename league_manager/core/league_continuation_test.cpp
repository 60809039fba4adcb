#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::PlayedLeague;
using testing::report_of;

constexpr events::MatchKey kFirst{1, 1};

/// Four players, two referees with one place each; both matches of the first round are assigned.
class Continuation : public ::testing::Test {
 protected:
  Continuation() {
    played_.enter_all(1);
    played_.step();
  }

  [[nodiscard]] const MatchSlot& slot(events::MatchKey match = kFirst) const {
    return played_.league.board().slot(match);
  }
  void restart(int second = 10) { played_.take(played_.league.decide_continuation(at(second))); }
  template <typename Body>
  [[nodiscard]] std::vector<Body> events_of() const {
    std::vector<Body> found;
    for (const auto& event : played_.events) {
      if (const auto* one = std::get_if<Body>(&event.body)) found.push_back(*one);
    }
    return found;
  }
  /// Registers the first referee again.
  void referee_returns(std::optional<std::string> nonce) {
    auto referee = events::AgentRef::referee(0);
    RegistrationRequest request{events::AgentKind::kReferee, testing::profile("r0", 9000),
                                played_.league.roster().agent(referee).credential.token_hash,
                                std::move(nonce)};
    ASSERT_TRUE(played_.enter(request));
  }

  PlayedLeague played_{testing::settings(4, 2)};
};

TEST_F(Continuation, AssignsOpenMatchesAgainToTheSameRefereeWithTheSameSeed) {
  events::DrawSeed seed = slot().seed;
  int referee = slot().referee();
  restart();
  EXPECT_EQ(slot().status, MatchStatus::kAssigned);
  EXPECT_EQ(slot().attempts, 2);
  EXPECT_EQ(slot().referee(), referee);
  EXPECT_EQ(slot().seed, seed);
  EXPECT_EQ(slot().since, at(10));
  EXPECT_EQ(slot().after, std::nullopt);
}

TEST_F(Continuation, LeavesFinishedMatchesAlone) {
  MatchReport report = report_of(played_.league, kFirst, 1);
  int referee = slot().referee();
  ASSERT_FALSE(played_.report(referee, report).refusal);
  restart();
  EXPECT_EQ(slot().status, MatchStatus::kFinished);
  EXPECT_EQ(slot().attempts, 1);
  EXPECT_TRUE(played_.report(referee, report).is_repeat);
}

TEST_F(Continuation, RefusesAndRecordsAReportOfTheEarlierAttempt) {
  MatchReport report = report_of(played_.league, kFirst, 1);
  int referee = slot().referee();
  restart();
  auto decision = played_.report(referee, report);
  ASSERT_TRUE(decision.refusal);
  EXPECT_EQ(decision.refusal->code, core::ErrorCode::kStaleAttempt);
  ASSERT_EQ(events_of<events::StaleReportRecorded>().size(), 1U);
  EXPECT_EQ(events_of<events::StaleReportRecorded>()[0].attempt, 1);
  EXPECT_FALSE(played_.report(referee, report_of(played_.league, kFirst, 1)).refusal);
}

TEST_F(Continuation, RestartsDoNotUseUpTheAttempts) {
  PlayedLeague alone(testing::settings(2, 1));
  alone.enter_all(1);
  alone.step();
  const MatchSlot& only = alone.league.board().slot(kFirst);
  for (int i = 0; i < 100; ++i) alone.take(alone.league.decide_continuation(at(10 + i)));
  EXPECT_EQ(only.status, MatchStatus::kAssigned);
  EXPECT_EQ(only.attempts, 101);
  EXPECT_EQ(only.counted_attempts(), 1);
  EXPECT_EQ(only.referee_of(101), 0);
  EXPECT_EQ(only.referee_of(101 - kKnownAttempts), -1);
  for (int i = 0; i < 2; ++i)
    alone.take(alone.league.decide_assignment_refused(kFirst, 0, at(200 + i)));
  EXPECT_EQ(only.status, MatchStatus::kAssigned);
  alone.take(alone.league.decide_assignment_refused(kFirst, 0, at(202)));
  EXPECT_EQ(only.status, MatchStatus::kFinished);
  EXPECT_TRUE(only.result.by_manager);
}

TEST_F(Continuation, ARefereeThatIsToBlameIsStillAvoided) {
  int first = slot().referee();
  restart();
  played_.take(played_.league.decide_referee_lost(first, at(20)));
  EXPECT_EQ(slot().status, MatchStatus::kPending);  // the other one's place is taken
}

TEST_F(Continuation, SuspensionsStayAsTheyWere) {
  played_.take(played_.league.decide_referee_lost(0, at(1)));
  auto lifecycle = [this]() -> const events::AgentLifecycle& {
    return played_.league.roster().agent(events::AgentRef::referee(0)).lifecycle;
  };
  ASSERT_EQ(lifecycle().state(), events::AgentState::kSuspended);
  restart(100'000);
  EXPECT_EQ(lifecycle().state(), events::AgentState::kSuspended);
  EXPECT_EQ(lifecycle().state_since(), at(1));
  EXPECT_EQ(lifecycle().reason(), events::kReasonRefereeLost);
}

TEST_F(Continuation, AShutDownOfAnOldJournalStaysOneAndCanBeUndone) {
  events::AgentRef gone = events::AgentRef::player(0);
  played_.take(
      {{at(1), events::AgentStateChanged{gone, events::AgentState::kShutdown, "FAILURES_IN_ALL"}}});
  restart(10);
  EXPECT_EQ(played_.league.roster().agent(gone).lifecycle.state(), events::AgentState::kShutdown);
  played_.take(*played_.league.decide_restore(gone, "", at(11)));
  EXPECT_EQ(played_.league.roster().agent(gone).lifecycle.state(), events::AgentState::kActive);
}

TEST_F(Continuation, AFinishedLeagueStaysAsItIs) {
  while (played_.league.state() == LeagueState::kRunning) {
    for (events::MatchKey match : played_.league.board().with_status(MatchStatus::kAssigned))
      played_.report(slot(match).referee(), report_of(played_.league, match, 1));
    played_.step();
  }
  EXPECT_TRUE(played_.league.decide_continuation(at(10)).empty());
}

TEST_F(Continuation, KnowsWhatHasNotBeenTold) {
  const League& league = played_.league;
  EXPECT_EQ(league.undelivered_notifications(), (UndeliveredNotifications{1, std::nullopt, false}));
  played_.take(league.decide_delivered(events::NotificationKind::kRoundAnnounced, 1, at(1)));
  EXPECT_EQ(league.undelivered_notifications(), UndeliveredNotifications{});
  EXPECT_TRUE(league.decide_delivered(events::NotificationKind::kRoundAnnounced, 1, at(1)).empty());
  EXPECT_TRUE(league.decide_delivered(events::NotificationKind::kRoundAnnounced, 2, at(1)).empty());
  for (events::MatchKey match : league.board().with_status(MatchStatus::kAssigned))
    played_.report(slot(match).referee(), report_of(league, match, 0));
  played_.step();
  EXPECT_EQ(league.undelivered_notifications(), (UndeliveredNotifications{2, 1, false}));
  played_.take(league.decide_delivered(events::NotificationKind::kRoundCompleted, 1, at(2)));
  EXPECT_EQ(league.undelivered_notifications(), (UndeliveredNotifications{2, std::nullopt, false}));
}

TEST_F(Continuation, BeforeTheStartNothingIsAssigned) {
  PlayedLeague fresh(testing::settings(2, 1));
  fresh.take(fresh.league.decide_continuation(at(1)));
  EXPECT_EQ(fresh.league.state(), LeagueState::kRegistering);
  ASSERT_TRUE(fresh.enter({events::AgentKind::kPlayer, testing::profile("p", 1), {}, {}}));
}

TEST_F(Continuation, ARefereeThatIsANewProcessLosesItsMatches) {
  events::MatchKey match = played_.league.board().open_matches(0).at(0);
  referee_returns("fresh nonce");
  EXPECT_EQ(slot(match).status, MatchStatus::kPending);  // the other one's place is taken
  ASSERT_EQ(events_of<events::MatchReleased>().size(), 1U);
  EXPECT_EQ(events_of<events::MatchReleased>()[0].reason, events::kReasonRefereeRestarted);
  EXPECT_FALSE(events_of<events::MatchReleased>()[0].is_excused);
  referee_returns("fresh nonce");  // the answer was lost, the process is the same
  EXPECT_EQ(events_of<events::MatchReleased>().size(), 1U);
}

TEST_F(Continuation, WhoComesBackTogetherWithTheManagerCostsNoAttempt) {
  PlayedLeague alone(testing::settings(2, 1));
  alone.enter_all(1);
  alone.step();
  const MatchSlot& only = alone.league.board().slot(kFirst);
  auto referee = events::AgentRef::referee(0);
  auto return_as = [&](const std::string& nonce) {
    const auto& known = alone.league.roster().agent(referee);
    ASSERT_TRUE(alone.enter({events::AgentKind::kReferee, testing::profile("r0", 9000),
                             known.credential.token_hash, nonce}));
  };
  for (int i = 0; i < 20; ++i) {
    alone.take(alone.league.decide_continuation(at(10 + i)));
    if (i % 2 == 0) alone.take(alone.league.decide_referee_lost(0, at(10 + i)));
    return_as("nonce " + std::to_string(i));
    ASSERT_EQ(only.status, MatchStatus::kAssigned) << i;
    ASSERT_EQ(only.counted_attempts(), 1) << i;
  }
  for (int i = 0; i < 5; ++i) return_as("crashed by the match " + std::to_string(i));
  EXPECT_EQ(only.counted_attempts(), 1) << "nor does a referee that crashes later";
}

TEST_F(Continuation, ARefereeThatHasReportedIsNotAwaitedAnyMore) {
  restart();
  events::MatchKey match = played_.league.board().open_matches(0).at(0);
  events::MatchKey other = played_.league.board().open_matches(1).at(0);
  ASSERT_FALSE(played_.report(0, report_of(played_.league, match, 1)).refusal);
  EXPECT_FALSE(played_.league.roster().agent(events::AgentRef::referee(0)).is_awaited);
  played_.take(played_.league.decide_referee_lost(1, at(20)));
  EXPECT_EQ(slot(other).referee(), 0);
  played_.take(played_.league.decide_referee_lost(0, at(21)));
  EXPECT_TRUE(events_of<events::MatchReleased>().at(2).is_excused);
  EXPECT_FALSE(events_of<events::MatchReleased>().at(3).is_excused);
}

TEST_F(Continuation, ARefereeWithoutNonceIsTakenForANewProcess) {
  referee_returns(std::nullopt);
  EXPECT_EQ(events_of<events::MatchReleased>().size(), 1U);
}

}  // namespace
}  // namespace league::league_manager
