#include "league_manager/core/league.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using core::ErrorCode;
using testing::at;
using testing::PlayedLeague;

TEST(League, StartsWhenEverybodyIsIn) {
  PlayedLeague played(testing::settings(2, 1));
  EXPECT_EQ(played.league.due(), Step::kNone);
  played.enter_all(1);
  EXPECT_EQ(played.league.due(), Step::kStartLeague);
  played.step();
  EXPECT_EQ(played.league.state(), LeagueState::kRunning);
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::player(0)).lifecycle.state(),
            events::AgentState::kActive);
  EXPECT_EQ(played.league.roster().agent(events::AgentRef::referee(0)).lifecycle.state(),
            events::AgentState::kActive);
}

TEST(League, StartsOnCommandWithWhoIsIn) {
  PlayedLeague played(testing::settings(8, 3));
  EXPECT_EQ(played.league.decide_start(at(0)).error().code, ErrorCode::kLeagueNotStartable);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(played.enter(
        {events::AgentKind::kPlayer, testing::profile("a" + std::to_string(i), i), {}, {}}));
  EXPECT_EQ(played.league.decide_start(at(0)).error().code, ErrorCode::kLeagueNotStartable)
      << "no referee";
  ASSERT_TRUE(played.enter({events::AgentKind::kReferee, testing::profile("r", 9), {}, {}}));
  EXPECT_EQ(played.league.due(), Step::kNone);
  played.take(*played.league.decide_start(at(0)));
  EXPECT_EQ(played.league.status().total_matches, 3u);
  EXPECT_EQ(played.league.decide_start(at(0)).error().code, ErrorCode::kLeagueNotStartable);
}

TEST(League, AsksForTheSeedsOfARound) {
  PlayedLeague played(testing::settings(5, 1));
  played.enter_all(1);
  EXPECT_EQ(played.league.seeds_needed(), 0u);
  played.take(*played.league.decide_step({at(0), {}}));
  EXPECT_EQ(played.league.seeds_needed(), 2u);
  EXPECT_FALSE(played.league.decide_step({at(0), {}}));
}

TEST(League, AnswersQueriesAboutMatches) {
  PlayedLeague played(testing::settings(5, 1));
  EXPECT_TRUE(played.league.schedule_page(0, 10).empty());
  EXPECT_FALSE(played.league.next_match(0));
  played.enter_all(1);
  played.step();
  EXPECT_EQ(played.league.schedule_page(0, 1000).size(), 10u);
  auto page = played.league.schedule_page(3, 2);
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].match, (events::MatchKey{2, 2}));
  EXPECT_EQ(page[1].match, (events::MatchKey{3, 1}));
  EXPECT_TRUE(played.league.schedule_page(10, 1).empty());
  EXPECT_FALSE(played.league.match({6, 1}));
  EXPECT_EQ(played.league.match({1, 2})->referee, 0) << "planned";
  EXPECT_EQ(played.league.match({1, 2})->attempt, 0);
  EXPECT_FALSE(played.league.next_match(5));
  EXPECT_FALSE(played.league.next_match(-1));
  std::map<int, int> rounds;  // of the next match: one player has a bye in round 1
  for (int player = 0; player < 5; ++player)
    ++rounds[played.league.next_match(player)->match.round];
  EXPECT_EQ(rounds, (std::map<int, int>{{1, 4}, {2, 1}}));
  auto view = *played.league.match({1, 1});
  played.report(0, testing::report_of(played.league, {1, 1}, 1));
  EXPECT_GT(played.league.next_match(view.pairing.player_a)->match.round, 1);
  EXPECT_FALSE(played.league.round_summary(1));
}

TEST(League, RefusesEventsThatDoNotFit) {
  PlayedLeague played(testing::settings(2, 1));
  played.enter_all(1);
  played.step();
  std::string before = testing::dump(played.league);
  for (const events::EventBody& body : std::vector<events::EventBody>{
           events::LeagueCreated{core::LeagueId("x"), "even_odd"},
           events::AgentRegistered{events::AgentRef::player(2), {}, {}, ""},
           events::AgentReregistered{
               events::AgentRef::player(2), {}, {}, "", events::Recognition::kToken},
           events::LeagueStarted{2, 1, kScheduleRule},
           events::RoundStarted{2, std::vector<events::DrawSeed>(1), {0}},
           events::MatchAssigned{{1, 1}, 2, 0, {}},
           events::MatchAssigned{{7, 1}, 1, 0, {}},
           events::MatchReleased{{2, 1}, 1, "", false},
           events::MatchReported{{1, 2}, 1, 0, {}},
           events::MatchReported{{1, 1}, 1, 7, {}},
           events::MatchForfeited{{0, 0}, {}},
           events::ReportConflictRecorded{{9, 9}, 0, {}},
           events::FailureCounted{events::AgentRef::referee(-1), events::FailureKind::kTimeout, {}},
           events::AgentStateChanged{events::AgentRef::referee(1), events::AgentState::kActive, ""},
           events::RoundCompleted{1, {}},
           events::LeagueCompleted{0},
       }) {
    EXPECT_FALSE(played.league.apply({at(0), body})) << body.index();
  }
  EXPECT_EQ(testing::dump(played.league), before);
  League other(events::LeagueSettings{});
  EXPECT_FALSE(other.apply({at(0), events::LeagueCreated{core::LeagueId("another"), "even_odd"}}));
  EXPECT_FALSE(
      other.apply({at(0), events::AgentRegistered{events::AgentRef::player(0), {}, {}, ""}}))
      << "before its creation";
}

TEST(League, OfAThousandPlayersIsPlayedQuickly) {
  PlayedLeague played(testing::settings(1000, 4));
  played.keep_events = false;
  played.enter_all(100);
  played.step();
  for (int round = 1; round <= 3; ++round) {
    while (played.league.board().round() == round) {
      for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
        int referee = played.league.board().slot(match).referee();
        ASSERT_FALSE(
            played.report(referee, testing::report_of(played.league, match, match.number % 3))
                .refusal);
      }
      played.step();
    }
  }
  EXPECT_EQ(played.league.status().finished.total_matches, 1500);
}

}  // namespace
}  // namespace league::league_manager
