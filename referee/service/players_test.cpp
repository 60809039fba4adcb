#include "referee/service/players.h"

#include <gtest/gtest.h>

namespace league::referee::service {
namespace {

envelope::MatchAssignment assignment() {
  envelope::MatchAssignment one;
  one.match_id = core::MatchId("R1M1");
  one.player_a_id = core::PlayerId("P01");
  one.player_b_id = core::PlayerId("P02");
  one.player_a_endpoint = "http://127.0.0.1:8101/mcp";
  one.player_b_endpoint = "http://127.0.0.1:8102/mcp";
  one.player_a_token_hash = core::AuthToken("tok_a").hash();
  one.player_b_token_hash = core::AuthToken("tok_b").hash();
  one.player_b_dialect = "tools_call";
  one.player_b_suspended = true;
  return one;
}

TEST(Players, TakesTheSeatsFromTheAssignment) {
  auto seats = seats_of(assignment());
  ASSERT_TRUE(seats);
  EXPECT_EQ((*seats)[Side::kA].id.str(), "P01");
  EXPECT_EQ((*seats)[Side::kA].style, std::nullopt);
  EXPECT_FALSE((*seats)[Side::kA].is_suspended);
  EXPECT_EQ((*seats)[Side::kB].endpoint.url(), "http://127.0.0.1:8102/mcp");
  EXPECT_EQ((*seats)[Side::kB].style, agent::dialects::CallStyle::kToolsCall);
  EXPECT_TRUE((*seats)[Side::kB].is_suspended);
}

TEST(Players, RefusesAnAddressThatCannotBeRead) {
  auto one = assignment();
  one.player_b_endpoint = "nowhere";
  auto seats = seats_of(one);
  ASSERT_FALSE(seats);
  EXPECT_EQ(seats.error().code, core::ErrorCode::kEndpointNotAllowed);
}

TEST(Players, CallsSocketsAndCommandsOfItsOwnMachineOnlyWhereTheOperatorNamesThem) {
  for (const char* url : {"unix:/run/bots/p02.sock", "stdio:python3 bots/p02.py"}) {
    auto one = assignment();
    one.player_b_endpoint = url;
    auto refused = seats_of(one);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().code, core::ErrorCode::kEndpointNotAllowed);
    auto policy = transport::link::EndpointPolicy::parse("any,unix:/run/bots/,stdio:python3 bots/");
    ASSERT_TRUE(policy);
    auto seats = seats_of(one, *policy);
    ASSERT_TRUE(seats) << seats.error().message;
    EXPECT_EQ((*seats)[Side::kB].endpoint.url(), url);
  }
}

struct TokenCase {
  std::optional<core::AuthToken> shown;
  std::optional<core::ErrorCode> strict;
  const char* leniency;  ///< in open mode
};

TEST(Players, ChecksTheTokenOfAReply) {
  auto seat = (*seats_of(assignment()))[Side::kA];
  const std::vector<TokenCase> cases = {
      {core::AuthToken("tok_a"), std::nullopt, nullptr},
      {std::nullopt, core::ErrorCode::kAuthTokenMissing, "missing_reply_token"},
      {core::AuthToken(), core::ErrorCode::kAuthTokenMissing, "missing_reply_token"},
      {core::AuthToken("tok_b"), core::ErrorCode::kAuthTokenInvalid, "foreign_reply_token"},
  };
  for (const auto& one : cases) {
    rpc::MessageNotes strict_notes;
    auto strict = check_reply_token(seat, one.shown, envelope::Mode::kStrict, strict_notes);
    EXPECT_EQ(static_cast<bool>(strict), !one.strict) << one.leniency;
    if (!strict) {
      EXPECT_EQ(strict.error().code, one.strict) << one.leniency;
    }
    rpc::MessageNotes notes;
    EXPECT_TRUE(check_reply_token(seat, one.shown, envelope::Mode::kOpen, notes)) << one.leniency;
    EXPECT_EQ(notes.said_by, one.leniency == nullptr ? "player:P01" : "");
    std::vector<std::string_view> expected;
    if (one.leniency != nullptr) expected.emplace_back(one.leniency);
    EXPECT_EQ(notes.leniencies, expected) << one.leniency;
  }
}

}  // namespace
}  // namespace league::referee::service
