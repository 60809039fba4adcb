#include "league_manager/events/agent_ref.h"

#include <gtest/gtest.h>

#include "league_manager/events/match_key.h"

namespace league::league_manager::events {
namespace {

TEST(AgentRef, WritesAndReadsIds) {
  EXPECT_EQ(AgentRef::player(0).id(), "P01");
  EXPECT_EQ(AgentRef::player(99).id(), "P100");
  EXPECT_EQ(AgentRef::referee(0).id(), "REF01");
  EXPECT_EQ(AgentRef::parse("P100"), AgentRef::player(99));
  EXPECT_EQ(AgentRef::parse("REF07"), AgentRef::referee(6));
}

TEST(AgentRef, ReadsNothingElse) {
  for (const char* text : {"", "P", "P0", "P00", "P1", "P001", "p01", "P-1", "P+1", "P01 ", "REF",
                           "REF1", "Q01", "P99999999999", "league_manager"}) {
    EXPECT_EQ(AgentRef::parse(text), std::nullopt) << text;
  }
}

TEST(MatchKey, WritesAndReadsIds) {
  EXPECT_EQ((MatchKey{12, 3}).id().str(), "R12M3");
  EXPECT_EQ(MatchKey::parse("R12M3"), (MatchKey{12, 3}));
  for (const char* text : {"", "R", "R1", "R1M", "R0M1", "R1M0", "R01M1", "R1M01", "r1m1", "R1M1 ",
                           "R-1M1", "R99999999999M1"}) {
    EXPECT_EQ(MatchKey::parse(text), std::nullopt) << text;
  }
}

TEST(MatchKey, NamesItsConversations) {
  EXPECT_EQ(match_conversation({1, 1}, 1).str(), "convr1m1001");
  EXPECT_EQ(match_conversation({1, 1}, 2).str(), "convr1m1002");
  EXPECT_EQ(match_conversation({12, 34}, 15).str(), "convr12m34015");
}

}  // namespace
}  // namespace league::league_manager::events
