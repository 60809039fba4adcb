#include "common/agent/dialects/request_dialect.h"

#include <gtest/gtest.h>

namespace league::agent::dialects {
namespace {

using envelope::MessageType;
using nlohmann::json;

RequestReader player() {
  return {.receiver = envelope::Role::kPlayer,
          .is_tool = [](std::string_view name) { return name == "ping"; }};
}

struct RequestCase {
  const char* method;
  const char* params;
  MessageType type;
  ReplyShape shape;
  std::vector<std::string_view> leniencies;
};

TEST(RequestDialect, RoutesByMethodElseByMessageType) {
  const char* flat = R"({"message_type":"GAME_OVER"})";
  const std::vector<RequestCase> cases = {
      {"notify_match_result", flat, MessageType::kGameOver, ReplyShape::kResult, {}},
      // The method decides; what the message says is admission's matter.
      {"choose_parity", flat, MessageType::kChooseParityCall, ReplyShape::kResult, {}},
      {"notify_match_result", "{}", MessageType::kGameOver, ReplyShape::kResult, {}},
      {"GAME_OVER", flat, MessageType::kGameOver, ReplyShape::kResult, {"method_message_type"}},
      {"game_over", flat, MessageType::kGameOver, ReplyShape::kResult, {"method_lower_case_type"}},
      {"parity_choose",
       "{}",
       MessageType::kChooseParityCall,
       ReplyShape::kResult,
       {"method_alias"}},
      {"receive_game_over", flat, MessageType::kGameOver, ReplyShape::kResult, {"method_alias"}},
      {"mcp_message", flat, MessageType::kGameOver, ReplyShape::kResult, {"method_generic"}},
      {"handle_message", flat, MessageType::kGameOver, ReplyShape::kResult, {"method_generic"}},
      {"dance", flat, MessageType::kGameOver, ReplyShape::kResult, {"method_unknown_routed"}},
      {"notify_match_result",
       R"({"message":{"message_type":"GAME_OVER"}})",
       MessageType::kGameOver,
       ReplyShape::kResult,
       {"params_message"}},
      {"mcp_message",
       R"({"arguments":{"message_type":"GAME_OVER"}})",
       MessageType::kGameOver,
       ReplyShape::kResult,
       {"method_generic", "params_arguments"}},
  };
  for (const auto& one : cases) {
    auto outcome =
        player().read(rpc::make_request(rpc::Id(1), one.method, json::parse(one.params)));
    auto* request = std::get_if<IncomingRequest>(&outcome);
    ASSERT_NE(request, nullptr) << one.method;
    EXPECT_EQ(request->type, one.type) << one.method;
    EXPECT_EQ(request->shape, one.shape) << one.method;
    EXPECT_EQ(request->leniencies.names(), one.leniencies) << one.method;
    EXPECT_TRUE(request->wants_reply);
    EXPECT_TRUE(request->message.is_object());
  }
}

TEST(RequestDialect, ReadsCallsOfTools) {
  IncomingRequest call;
  call.id = rpc::Id(7);
  call.method = "parity_choose";
  call.message = json::object();
  auto outcome = player().read_tool_call(std::move(call));
  auto* request = std::get_if<IncomingRequest>(&outcome);
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->type, MessageType::kChooseParityCall);
  EXPECT_EQ(request->shape, ReplyShape::kToolResult);
  EXPECT_EQ(request->leniencies.names(), std::vector<std::string_view>{"method_alias"});
}

TEST(RequestDialect, KnowsToolsAndNotifications) {
  auto outcome = player().read(rpc::make_notification("ping", json()));
  auto* request = std::get_if<IncomingRequest>(&outcome);
  ASSERT_NE(request, nullptr);
  EXPECT_FALSE(request->type);
  EXPECT_FALSE(request->wants_reply);
  EXPECT_EQ(request->message, json::object());
}

TEST(RequestDialect, DoesNotRouteAMessageThatTheReceiverNeverGetsByItsMethod) {
  auto outcome =
      player().read(rpc::make_request(rpc::Id(1), "report_match_result", json::object()));
  auto* refusal = std::get_if<RpcRefusal>(&outcome);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->code, rpc::StandardCode::kMethodNotFound);
  EXPECT_EQ(refusal->id, rpc::Id(1));
}

TEST(RequestDialect, TakesABareMessageAndAnswersInKind) {
  EXPECT_TRUE(is_bare_message({{"message_type", "GAME_OVER"}}));
  EXPECT_FALSE(is_bare_message({{"message_type", "GAME_OVER"}, {"jsonrpc", "2.0"}}));
  EXPECT_FALSE(is_bare_message(json::array({1})));
  auto outcome = player().read_bare({{"message_type", "GAME_OVER"}});
  auto* request = std::get_if<IncomingRequest>(&outcome);
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->shape, ReplyShape::kBare);
  EXPECT_EQ(request->type, MessageType::kGameOver);
  EXPECT_EQ(style_of(*request), CallStyle::kBareBody);
}

}  // namespace
}  // namespace league::agent::dialects
