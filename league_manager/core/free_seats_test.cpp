#include <gtest/gtest.h>

#include <algorithm>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using testing::at;
using testing::PlayedLeague;
using testing::player;
using testing::referee;
using testing::settings;

TEST(FreeSeats, PlayNoMatch) {
  PlayedLeague played(settings(5, 2));
  for (int i = 1; i <= 4; ++i)
    ASSERT_TRUE(played.enter(player(std::string(1, static_cast<char>('a' + i)), i)));
  ASSERT_TRUE(played.enter(referee("r", 8)));
  ASSERT_TRUE(played.enter(referee("s", 9)));
  for (const auto agent : {events::AgentRef::player(1), events::AgentRef::referee(0)})
    played.take(*played.league.decide_shut_down(agent, events::kReasonWithdrawn, "", at(1)));
  auto start = played.league.decide_start(at(2));
  ASSERT_TRUE(start) << start.error().message;
  played.take(*start);
  played.step();
  ASSERT_EQ(played.league.schedule().total_matches(), 3U) << "three players, each against each";
  for (const auto& view : played.league.schedule_page(0, 3)) {
    EXPECT_FALSE(view.pairing.has(1));
    EXPECT_LT(std::max(view.pairing.player_a, view.pairing.player_b), 4);
  }
  for (int round = 1; round <= 3; ++round)
    EXPECT_FALSE(played.league.schedule().match_of(1, round));
  EXPECT_EQ(played.league.table().size(), 3U);
  const auto assigned = played.league.board().with_status(MatchStatus::kAssigned);
  ASSERT_EQ(assigned.size(), 1U);
  EXPECT_EQ(played.league.board().slot(assigned[0]).referee(), 1);
  PlayedLeague again(settings(5, 2));
  for (std::size_t i = 1; i < played.events.size(); ++i) again.take({played.events[i]});
  EXPECT_EQ(testing::dump(again.league), testing::dump(played.league))
      << "the journal gives the same league";
}

}  // namespace
}  // namespace league::league_manager
