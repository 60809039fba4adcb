#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "common/journal/memory_journal.h"
#include "league_manager/event_codec.h"
#include "league_manager/league_test_support.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::Played;

/// Plays to the end without any failure.
void play(Played& played, int draw_every = 3) {
  int count = 0;
  played.step();
  while (played.league.state() == LeagueState::kRunning) {
    for (MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
      int kind = ++count % draw_every;
      auto report = testing::report_of(played.league, match, kind % 3);
      auto decision = played.report(played.league.board().slot(match).referee(), report);
      ASSERT_FALSE(decision.refusal) << decision.refusal->message;
    }
    played.step();
  }
}

TEST(LeagueSimulation, PlaysEveryMatchOnce) {
  Played played(testing::settings(8, 2));
  played.enter_all(2);
  play(played);
  EXPECT_EQ(played.league.state(), LeagueState::kCompleted);
  EXPECT_EQ(played.league.status().finished.total_matches, 28);
  EXPECT_EQ(played.league.status().finished.technical_losses, 0);
  EXPECT_TRUE(played.league.champion());
}

}  // namespace
}  // namespace league::league_manager
