#include "common/agent/peers/trace_parent.h"

#include <gtest/gtest.h>

#include "common/core/crypto.h"

namespace league::agent::peers {
namespace {

constexpr const char* kMessage = R"({"protocol":"league.v2","league_id":"cup","x":1})";

TEST(TraceParent, FollowsFromLeagueAndConversation) {
  const std::string parent = trace_parent(kMessage, "convr1m1001", 7);
  EXPECT_EQ(parent.size(), 55u);
  EXPECT_EQ(parent.substr(0, 36),
            "00-" + core::to_hex(core::sha256("cup/convr1m1001")).substr(0, 32) + "-");
  EXPECT_TRUE(parent.ends_with("-01"));
  EXPECT_EQ(parent.find_first_not_of("0123456789abcdef-"), std::string::npos);
}

TEST(TraceParent, EachCallIsASpanOfItsOwn) {
  const std::string one = trace_parent(kMessage, "c", 1);
  const std::string two = trace_parent(kMessage, "c", 2);
  EXPECT_EQ(one.substr(0, 35), two.substr(0, 35));
  EXPECT_NE(one, two);
  EXPECT_NE(trace_parent("{}", "c", 1).substr(0, 35), one.substr(0, 35));
}

}  // namespace
}  // namespace league::agent::peers
