#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "league_manager/league_test_support.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::Played;

constexpr MatchKey kMatchOne{1, 1};
constexpr MatchKey kMatchTwo{1, 2};

/// A league whose referees come for their matches.
Played queued(int players, int referees, int capacity = 1) {
  auto settings = testing::settings(players, referees);
  settings.has_queue = true;
  Played played(std::move(settings));
  for (int i = 0; i < players; ++i)
    (void)played.enter(
        {AgentKind::kPlayer, testing::profile("p" + std::to_string(i), 10000 + i), {}, {}});
  for (int i = 0; i < referees; ++i) {
    auto profile = testing::profile("r" + std::to_string(i), 9000 + i, capacity);
    profile.takes_from_queue = true;
    (void)played.enter({AgentKind::kReferee, std::move(profile), {}, {}});
  }
  played.step();
  return played;
}

ClaimVerdict claim(Played& played, int referee, Claim one, int second = 0) {
  auto decision = played.league.decide_claims(referee, {one}, at(second));
  played.take(decision.events);
  return decision.verdicts.front();
}

const MatchSlot& slot(const Played& played, MatchKey match) {
  return played.league.board().slot(match);
}

TEST(LeagueClaims, LeavesMatchesToThoseWhoComeForThem) {
  auto played = queued(4, 2);
  EXPECT_EQ(slot(played, kMatchOne).status, MatchStatus::kPending);
  EXPECT_EQ(claim(played, 1, {kMatchOne}), ClaimVerdict::kYours);
  EXPECT_EQ(slot(played, kMatchOne).referee(), 1);
  EXPECT_EQ(slot(played, kMatchOne).attempts, 1);
  EXPECT_EQ(slot(played, kMatchTwo).status, MatchStatus::kPending);
}

TEST(LeagueClaims, GivesTheSameMatchAgainToWhoHasIt) {
  auto played = queued(4, 2);
  (void)claim(played, 0, {kMatchOne});
  EXPECT_EQ(claim(played, 0, {kMatchOne}), ClaimVerdict::kYours);
  EXPECT_EQ(slot(played, kMatchOne).attempts, 1) << "the answer to the first claim was lost";
}

TEST(LeagueClaims, TakesNoMatchFromARefereeThatIsThere) {
  auto played = queued(4, 2);
  (void)claim(played, 0, {kMatchOne});
  EXPECT_EQ(claim(played, 1, {kMatchOne}), ClaimVerdict::kHeld);
  EXPECT_EQ(slot(played, kMatchOne).referee(), 0);
}

TEST(LeagueClaims, GivesAMatchOfALostRefereeAsTheNextAttempt) {
  auto played = queued(4, 2);
  (void)claim(played, 0, {kMatchOne});
  played.take(played.league.decide_referee_lost(0, at(5)));
  EXPECT_EQ(slot(played, kMatchOne).status, MatchStatus::kPending) << "others come for it";
  EXPECT_EQ(claim(played, 1, {kMatchOne}, 6), ClaimVerdict::kYours);
  EXPECT_EQ(slot(played, kMatchOne).attempts, 2);
  EXPECT_EQ(claim(played, 0, {kMatchOne, 1}, 7), ClaimVerdict::kOver)
      << "what was queued for the first attempt is done with";
}

TEST(LeagueClaims, ExceedsNoCapacity) {
  auto played = queued(4, 2, 1);
  auto decision = played.league.decide_claims(0, {{kMatchOne}, {kMatchTwo}}, at(0));
  EXPECT_EQ(decision.verdicts, (std::vector{ClaimVerdict::kYours, ClaimVerdict::kNotNow}));
  EXPECT_EQ(decision.events.size(), 1U);
}

TEST(LeagueClaims, IsOverForWhatIsPlayedOrUnknown) {
  auto played = queued(4, 2, 2);
  (void)claim(played, 0, {kMatchOne});
  played.report(0, testing::report_of(played.league, kMatchOne, 1));
  EXPECT_EQ(claim(played, 1, {kMatchOne}), ClaimVerdict::kOver);
  EXPECT_EQ(claim(played, 1, {{7, 7}}), ClaimVerdict::kOver);
  EXPECT_EQ(claim(played, 9, {kMatchTwo}), ClaimVerdict::kOver) << "no such referee";
}

TEST(LeagueClaims, GivesNothingToAReferreeThatIsSuspended) {
  auto played = queued(4, 2);
  played.take(played.league.decide_silent(AgentRef::referee(0), at(1)));
  EXPECT_EQ(claim(played, 0, {kMatchOne}, 2), ClaimVerdict::kNotNow);
  played.take(played.league.decide_alive(AgentRef::referee(0), at(3), kReasonHeardAgain));
  EXPECT_EQ(claim(played, 0, {kMatchOne}, 4), ClaimVerdict::kYours);
}

TEST(LeagueClaims, GivesOutByItselfWhatNobodyHasComeFor) {
  auto played = queued(4, 2);
  played.take(played.league.decide_tick(at(30)));
  EXPECT_EQ(slot(played, kMatchOne).status, MatchStatus::kPending);
  played.take(played.league.decide_tick(at(31)));
  EXPECT_EQ(slot(played, kMatchOne).status, MatchStatus::kAssigned) << "the queue does not work";
  EXPECT_EQ(slot(played, kMatchTwo).status, MatchStatus::kAssigned);
}

TEST(LeagueClaims, WithoutAQueueGivesMatchesToEverybody) {
  auto settings = testing::settings(2, 1);
  Played played(settings);
  (void)played.enter({AgentKind::kPlayer, testing::profile("a", 10000), {}, {}});
  (void)played.enter({AgentKind::kPlayer, testing::profile("b", 10001), {}, {}});
  auto profile = testing::profile("r", 9000);
  profile.takes_from_queue = true;
  (void)played.enter({AgentKind::kReferee, profile, {}, {}});
  played.step();
  EXPECT_EQ(slot(played, kMatchOne).status, MatchStatus::kAssigned);
}

TEST(LeagueClaims, ServesBothKindsOfRefereesInOneLeague) {
  auto settings = testing::settings(4, 2);
  settings.has_queue = true;
  Played played(settings);
  for (int i = 0; i < 4; ++i)
    (void)played.enter(
        {AgentKind::kPlayer, testing::profile("p" + std::to_string(i), 10000 + i), {}, {}});
  auto profile = testing::profile("comes", 9000);
  profile.takes_from_queue = true;
  (void)played.enter({AgentKind::kReferee, profile, {}, {}});
  (void)played.enter({AgentKind::kReferee, testing::profile("waits", 9001), {}, {}});
  played.step();
  int given = 0;
  for (MatchKey match : {kMatchOne, kMatchTwo})
    given += slot(played, match).status == MatchStatus::kAssigned ? 1 : 0;
  EXPECT_EQ(given, 1) << "one place waits to be filled";
  EXPECT_EQ(played.league.board().open_count(1), 1);
}

TEST(LeagueClaims, AfterARestartOfTheManagerTheSameRefereeStartsOver) {
  auto played = queued(4, 2);
  (void)claim(played, 1, {kMatchOne});
  played.take(played.league.decide_continuation(at(10)));
  EXPECT_EQ(slot(played, kMatchOne).referee(), 1);
  EXPECT_EQ(slot(played, kMatchOne).attempts, 2);
  EXPECT_EQ(slot(played, kMatchTwo).status, MatchStatus::kPending) << "still in the queue";
}

TEST(LeagueSilence, SuspendsAndRestores) {
  auto played = queued(4, 2);
  auto player = AgentRef::player(0);
  played.take(played.league.decide_silent(player, at(1)));
  EXPECT_EQ(played.league.roster().agent(player).lifecycle.state(), AgentState::kSuspended);
  EXPECT_TRUE(played.league.decide_silent(player, at(2)).empty());
  played.take(played.league.decide_alive(player, at(3), kReasonHeardAgain));
  EXPECT_EQ(played.league.roster().agent(player).lifecycle.state(), AgentState::kActive);
  const auto* change = std::get_if<AgentStateChanged>(&played.events.back().body);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->reason, kReasonHeardAgain);
}

TEST(LeagueSilence, TakesASilentRefereesMatches) {
  auto played = queued(4, 2);
  (void)claim(played, 0, {kMatchOne});
  played.take(played.league.decide_silent(AgentRef::referee(0), at(1)));
  EXPECT_EQ(slot(played, kMatchOne).status, MatchStatus::kPending);
}

/// A queue that hands out what it likes, as often as it likes, to referees that come and go.
TEST(LeagueClaims, PlaysEveryMatchOnceWhateverTheQueueDoes) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    constexpr int kReferees = 3;
    auto played = queued(2 + below(7), kReferees, 1 + below(3));
    int seconds = 0;
    int steps = 0;
    while (played.league.state() != LeagueState::kCompleted) {
      ASSERT_LT(++steps, 20'000);
      int referee = below(kReferees);
      const auto& board = played.league.board();
      MatchKey match{board.round(), 1 + below(board.matches())};
      switch (below(8)) {
        case 0:
          played.take(played.league.decide_referee_lost(referee, at(++seconds)));
          break;
        case 1:
          for (int i = 0; i < kReferees; ++i)
            played.take(played.league.decide_alive(AgentRef::referee(i), at(++seconds)));
          break;
        case 2:
          played.take(played.league.decide_tick(at(++seconds)));
          break;
        case 3:
        case 4: {
          auto open = board.open_matches(referee);
          if (!open.empty())
            played.report(referee, testing::report_of(played.league, open.front(), below(3)),
                          at(++seconds));
          break;
        }
        default:
          (void)claim(played, referee, {match, 1 + below(3)}, ++seconds);
      }
      for (int i = 0; i < kReferees; ++i) {
        ASSERT_LE(
            board.open_count(i),
            played.league.roster().agent(AgentRef::referee(i)).profile.max_concurrent_matches);
      }
      played.step(at(seconds));
    }
    auto finished = played.league.status().finished;
    EXPECT_EQ(static_cast<std::size_t>(finished.total_matches),
              played.league.schedule().total_matches());
  }
}

}  // namespace
}  // namespace league::league_manager
