#include "common/envelope/message_type.h"

#include <gtest/gtest.h>

#include <set>

#include "common/envelope/game_messages.h"
#include "common/envelope/message_schemas.h"
#include "common/envelope/query_messages.h"
#include "common/envelope/registration_messages.h"

namespace league::envelope {
namespace {

TEST(MessageTable, IsInTheOrderOfTheEnumeration) {
  ASSERT_EQ(all_messages().size(), 18U);
  for (const auto& row : all_messages()) {
    EXPECT_EQ(spec(row.type).wire_name, row.wire_name);
    EXPECT_EQ(message_type_from_wire(row.wire_name), row.type);
    EXPECT_FALSE(message_type_from_wire(file_stem(row.type))) << "lower case is no type";
  }
  EXPECT_FALSE(message_type_from_wire("GAME_LOBBY"));
}

TEST(MessageTable, RepliesHaveNoMethodAndRequestsALimit) {
  std::set<MessageType> replies;
  for (const auto& row : all_messages()) {
    if (row.reply) replies.insert(*row.reply);
  }
  // These are sent both ways.
  const std::set<MessageType> both{MessageType::kLeagueError, MessageType::kLeagueRegisterResponse};
  for (const auto& row : all_messages()) {
    const bool is_call = !replies.contains(row.type) || both.contains(row.type);
    EXPECT_EQ(!row.method.empty(), is_call) << row.wire_name;
    EXPECT_EQ(row.time_limit.count() > 0, is_call && !both.contains(row.type)) << row.wire_name;
  }
}

template <typename Message>
void expect_the_answer_of_the_table(int number) {
  EXPECT_EQ(static_cast<int>(Message::kType), number);
  std::optional<MessageType> answer;
  if constexpr (requires { typename Message::Answer; }) answer = Message::Answer::kType;
  EXPECT_EQ(spec(Message::kType).reply, answer) << wire_name(Message::kType);
}

template <typename... Messages>
void expect_the_answers_of_the_table(MessageList<Messages...> /*unused*/) {
  int number = 0;
  (expect_the_answer_of_the_table<Messages>(++number), ...);
}

TEST(MessageTable, TypedCallsExpectTheAnswerOfTheTable) {
  expect_the_answers_of_the_table(AllMessages{});
}

TEST(MethodNames, FindTheMessageForItsReceiverOnly) {
  for (const auto& row : all_messages()) {
    if (row.method.empty()) continue;
    for (Role role : {Role::kLeagueManager, Role::kReferee, Role::kPlayer}) {
      auto match = message_type_from_method(row.method, role);
      EXPECT_EQ(match.has_value(), row.receivers.contains(role)) << row.method;
      if (!match) continue;
      EXPECT_EQ(match->type, row.type);
      EXPECT_FALSE(match->is_alias) << row.method;
    }
  }
}

TEST(MethodNames, AliasesOfTheWildAreKnown) {
  struct Case {
    const char* method;
    Role receiver;
    MessageType type;
  };
  for (const Case& c :
       {Case{"GAME_INVITATION", Role::kPlayer, MessageType::kGameInvitation},
        Case{"game_invitation", Role::kPlayer, MessageType::kGameInvitation},
        Case{"game_over", Role::kPlayer, MessageType::kGameOver},
        Case{"round_announcement", Role::kReferee, MessageType::kRoundAnnouncement},
        Case{"match_result_report", Role::kLeagueManager, MessageType::kMatchResultReport},
        Case{"parity_choose", Role::kPlayer, MessageType::kChooseParityCall},
        Case{"receive_game_invitation", Role::kPlayer, MessageType::kGameInvitation},
        Case{"receive_invitation", Role::kPlayer, MessageType::kGameInvitation}}) {
    auto match = message_type_from_method(c.method, c.receiver);
    ASSERT_TRUE(match) << c.method;
    EXPECT_EQ(match->type, c.type) << c.method;
    EXPECT_TRUE(match->is_alias) << c.method;
  }
}

TEST(MethodNames, GenericAndUnknownOnesNameNothing) {
  for (const char* method :
       {"mcp_message", "handle_message", "tools/call", "ping", "", "GAME_JOIN_ACK", "Game_Over"}) {
    EXPECT_FALSE(message_type_from_method(method, Role::kPlayer)) << method;
  }
  EXPECT_FALSE(message_type_from_method(std::string(100000, 'a'), Role::kPlayer));
}

}  // namespace
}  // namespace league::envelope
