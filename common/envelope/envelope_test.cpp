#include "common/envelope/envelope.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::envelope {
namespace {

TEST(EnvelopeBuilder, StampsSenderLeagueAndTime) {
  league::testing::FakeTime time;
  EnvelopeBuilder builder(Sender::player("alpha"), std::nullopt, time);
  EXPECT_FALSE(builder.make(MessageType::kLeagueRegisterRequest, {}).league_id);
  builder.set_identity(Sender::player("P01"), core::LeagueId("league_1"));
  time.advance(std::chrono::seconds(5));
  auto envelope =
      builder.make(MessageType::kGameJoinAck, {.conversation_id = core::ConversationId("c"),
                                               .auth_token = core::AuthToken("secret"),
                                               .round_id = 2,
                                               .match_id = core::MatchId("R2M1")});
  EXPECT_EQ(envelope.sender.str(), "player:P01");
  EXPECT_EQ(envelope.timestamp.to_wire(), "2025-01-15T10:30:05Z");
  EXPECT_EQ(envelope.league_id, core::LeagueId("league_1"));
  EXPECT_EQ(envelope.round_id, 2);
  EXPECT_EQ(envelope.match_id, core::MatchId("R2M1"));
}

TEST(ConversationIds, AreNamedAsTheProtocolSays) {
  EXPECT_EQ(match_conversation(core::MatchId("R1M1"), 1).str(), "convr1m1001");
  EXPECT_EQ(match_conversation(core::MatchId("R1M1"), 2).str(), "convr1m1002");
  EXPECT_EQ(match_conversation(core::MatchId("R1M1"), 1234).str(), "convr1m11234");
  EXPECT_EQ(registration_conversation(Role::kPlayer, "P01", 1).str(), "convplayerp01reg001");
  EXPECT_EQ(round_conversation(3, MessageType::kRoundCompleted).str(), "convround3round_completed");
}

TEST(ConversationIds, StayWithinTheirLengthAndDistinct) {
  std::string long_id(64, 'x');
  auto first = query_conversation(Role::kLeagueManager, long_id + long_id, 1);
  auto second = query_conversation(Role::kLeagueManager, long_id + long_id, 2);
  EXPECT_EQ(first.str().size(), kMaxConversationIdLength);
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace league::envelope
