// A player says that the result of its match is false.
#include <gtest/gtest.h>

#include "league_manager/core/league_testing.h"

namespace league::league_manager {
namespace {

using namespace testing;
using core::ErrorCode;

class Disputes : public ::testing::Test {
 protected:
  Disputes() : played_(settings(3, 1)) {
    played_.enter_all(1);
    played_.step();
  }

  ErrorCode refusal(int player, events::MatchKey match) {
    auto events = played_.league.decide_dispute(player, match, "false", at(1));
    EXPECT_FALSE(events);
    return events ? ErrorCode::kInternalError : events.error().code;
  }

  const events::MatchKey first_{1, 1};
  PlayedLeague played_;
};

TEST_F(Disputes, OnlyOfAFinishedMatchByOneOfItsPlayers) {
  const Pairing pairing = played_.league.schedule().pairing(first_);
  EXPECT_EQ(refusal(pairing.player_a, first_), ErrorCode::kMatchNotOpen);
  played_.report(0, report_of(played_.league, first_, 1));
  EXPECT_EQ(refusal(3 - pairing.player_a - pairing.player_b, first_), ErrorCode::kNotAuthorized);
  EXPECT_EQ(refusal(pairing.player_a, {9, 9}), ErrorCode::kMatchNotFound);
  EXPECT_TRUE(played_.league.disputes().empty());
}

TEST_F(Disputes, AreKeptOncePerPlayerAndChangeNoResult) {
  const Pairing pairing = played_.league.schedule().pairing(first_);
  played_.report(0, report_of(played_.league, first_, 1));
  const auto table = played_.league.standings().table();
  for (int player : {pairing.player_b, pairing.player_b, pairing.player_a}) {
    played_.take(*played_.league.decide_dispute(player, first_, std::string(9000, 'x'), at(2)));
  }
  EXPECT_EQ(played_.league.disputes().at(first_),
            (std::vector<int>{pairing.player_b, pairing.player_a}));
  EXPECT_EQ(played_.league.standings().table(), table);
  EXPECT_EQ(std::get<events::MatchDisputed>(played_.events.back().body).reason.size(), 500U);
}

}  // namespace
}  // namespace league::league_manager
