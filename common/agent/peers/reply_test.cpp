#include "common/agent/peers/reply.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace league::agent::peers {
namespace {

using nlohmann::json;

class ReplyTest : public ::testing::Test {
 protected:
  Reply reply(dialects::ReplyShape shape = dialects::ReplyShape::kResult,
              const LeagueErrorBuilder* errors = nullptr, bool wants_reply = true) {
    return {transport::link::ReplySlot([this](transport::link::OutboundReply out) {
              ++answers_;
              sent_ = std::move(out);
            }),
            {rpc::Id(5), wants_reply, shape, notes_},
            errors};
  }
  [[nodiscard]] json body() const { return json::parse(sent_.bytes); }

  std::shared_ptr<rpc::MessageNotes> notes_ = std::make_shared<rpc::MessageNotes>();
  transport::link::OutboundReply sent_;
  int answers_ = 0;
  const core::Error error_{core::ErrorCode::kInvalidTimestamp, "timestamp is no time",
                           "/timestamp"};
};

TEST_F(ReplyTest, AnswersOnceInTheShapeOfTheQuestion) {
  auto one = reply();
  one.send({{"message_type", "GAME_JOIN_ACK"}});
  one.send({{"late", true}});
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(body(),
            json::parse(R"({"jsonrpc":"2.0","id":5,"result":{"message_type":"GAME_JOIN_ACK"}})"));
  EXPECT_EQ(sent_.notes->message_type, "GAME_JOIN_ACK");
  reply(dialects::ReplyShape::kBare).send({{"a", 1}});
  EXPECT_EQ(body(), (json{{"a", 1}}));
  reply(dialects::ReplyShape::kToolResult).acknowledge();
  EXPECT_EQ(body()["result"]["structuredContent"], (json{{"status", "ok"}}));
  EXPECT_EQ(body()["result"]["content"][0]["text"], R"({"status":"ok"})");
}

TEST_F(ReplyTest, RefusesWithCodeNameAndFieldAndNotesTheVerdict) {
  reply().refuse(error_);
  EXPECT_EQ(sent_.http_status, 200);
  EXPECT_EQ(body()["error"]["code"], -32602);
  EXPECT_EQ(body()["error"]["data"]["error_code"], "E021");
  EXPECT_EQ(body()["error"]["data"]["error_name"], "INVALID_TIMESTAMP");
  EXPECT_EQ(body()["error"]["data"]["field"], "/timestamp");
  EXPECT_EQ(notes_->verdict, core::ErrorCode::kInvalidTimestamp);
  EXPECT_EQ(notes_->fault, "timestamp is no time");
}

TEST_F(ReplyTest, AToolCallIsRefusedByItsResult) {
  reply(dialects::ReplyShape::kToolResult).refuse(error_);
  EXPECT_EQ(body()["result"]["isError"], true);
  // No structured content: clients check it against the tool's schema.
  EXPECT_FALSE(body()["result"].contains("structuredContent"));
  auto told = json::parse(body()["result"]["content"][0]["text"].get<std::string>());
  EXPECT_EQ(told["error_code"], "E021");
}

TEST_F(ReplyTest, TheManagerRefusesWithItsOwnMessage) {
  notes_->message_type = "LEAGUE_QUERY";
  notes_->conversation_id = "conv1";
  LeagueErrorBuilder errors = [](const core::Error& error, const rpc::MessageNotes& request,
                                 const core::ConversationId& conversation) {
    return json{{"message_type", "LEAGUE_ERROR"},
                {"text", error.message + "|" + request.message_type + "|" + conversation.str()}};
  };
  reply(dialects::ReplyShape::kResult, &errors).refuse(error_);
  EXPECT_EQ(body()["result"]["text"], "timestamp is no time|LEAGUE_QUERY|conv1");
  reply(dialects::ReplyShape::kToolResult, &errors).refuse(error_);
  EXPECT_EQ(body()["result"]["isError"], true);
  auto told = json::parse(body()["result"]["content"][0]["text"].get<std::string>());
  EXPECT_EQ(told["message_type"], "LEAGUE_ERROR");
}

TEST_F(ReplyTest, TheRecordOfAnAnswerNamesItsOwnConversation) {
  notes_->conversation_id = std::string(101, 'c');
  LeagueErrorBuilder errors = [](const core::Error&, const rpc::MessageNotes&,
                                 const core::ConversationId& conversation) {
    return json{{"conversation_id", conversation.empty() ? "converror" : conversation.str()}};
  };
  reply(dialects::ReplyShape::kResult, &errors).refuse(error_);
  EXPECT_EQ(body()["result"]["conversation_id"], "converror") << "its own would be refused as well";
  EXPECT_EQ(sent_.notes->conversation_id, "converror");
  EXPECT_EQ(notes_->conversation_id, std::string(101, 'c')) << "the request's is what came";
  notes_->conversation_id = "conv1";
  reply(dialects::ReplyShape::kResult, &errors).refuse(error_);
  EXPECT_EQ(sent_.notes->conversation_id, "conv1");
}

TEST_F(ReplyTest, ANotificationGetsAnEmptyAcceptance) {
  reply(dialects::ReplyShape::kResult, nullptr, false).refuse(error_);
  EXPECT_EQ(sent_.bytes, "");
  EXPECT_EQ(sent_.http_status, 202);
}

TEST_F(ReplyTest, ForgettingAReplyAnswersWithAnInternalError) {
  { auto forgotten = reply(); }
  EXPECT_EQ(answers_, 1);
  EXPECT_EQ(body()["error"]["code"], -32603);
}

}  // namespace
}  // namespace league::agent::peers
