#include "common/agent/reply_dialect.h"

#include <gtest/gtest.h>

namespace league::agent {
namespace {

using nlohmann::json;

struct ReplyCase {
  const char* name;
  const char* document;
  const char* message;
  std::vector<std::string_view> leniencies;
};

TEST(ReplyDialect, FindsTheMessageWhereverItSits) {
  const std::vector<ReplyCase> cases = {
      {"result", R"({"jsonrpc":"2.0","id":3,"result":{"accept":true}})", R"({"accept":true})", {}},
      {"result.response",
       R"({"jsonrpc":"2.0","id":3,"result":{"response":{"accept":true}}})",
       R"({"accept":true})",
       {"result_response"}},
      {"structuredContent",
       R"({"jsonrpc":"2.0","id":3,"result":{"content":[],"structuredContent":{"accept":true}}})",
       R"({"accept":true})",
       {"result_structured_content"}},
      {"content[0].text",
       R"({"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"accept\":true}"}]}})",
       R"({"accept":true})",
       {"result_content_text"}},
      {"a request sent back",
       R"({"jsonrpc":"2.0","id":3,"method":"x","params":{"accept":true}})",
       R"({"accept":true})",
       {"reply_as_request"}},
      {"the bare body", R"({"accept":true})", R"({"accept":true})", {"bare_reply_body"}},
      {"a null error beside it",
       R"({"jsonrpc":"2.0","id":3,"result":{"accept":true},"error":null})",
       R"({"accept":true})",
       {"null_error_beside_result"}},
      {"no id",
       R"({"jsonrpc":"2.0","result":{"accept":true}})",
       R"({"accept":true})",
       {"id_not_echoed"}},
      {"the id as text",
       R"({"jsonrpc":"2.0","id":"3","result":{"accept":true}})",
       R"({"accept":true})",
       {"id_type_changed"}},
      // A message may have a field named like a wrapper.
      {"a message with a field response",
       R"({"jsonrpc":"2.0","id":3,"result":{"message_type":"X","response":{"a":1}}})",
       R"({"message_type":"X","response":{"a":1}})",
       {}},
      {"text that is no JSON",
       R"({"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"even"}]}})",
       R"({"content":[{"type":"text","text":"even"}]})",
       {}},
  };
  for (const auto& one : cases) {
    auto reply = read_reply(json::parse(one.document), rpc::Id(3));
    ASSERT_TRUE(reply) << one.name;
    EXPECT_FALSE(reply->error) << one.name;
    EXPECT_EQ(reply->message, json::parse(one.message)) << one.name;
    EXPECT_EQ(reply->leniencies.names(), one.leniencies) << one.name;
  }
}

TEST(ReplyDialect, KeepsThePeersError) {
  auto reply = read_reply(
      json::parse(
          R"({"jsonrpc":"2.0","id":3,"result":null,"error":{"code":-32601,"message":"?"}})"),
      rpc::Id(3));
  ASSERT_TRUE(reply && reply->error);
  EXPECT_EQ(reply->error->code, -32601);
  EXPECT_TRUE(reply->leniencies.contains(envelope::Leniency::kNullResultBesideError));
}

TEST(ReplyDialect, RefusesWhatIsNoAnswer) {
  for (const char* text : {"7", "null", "[]", R"("even")", R"({"jsonrpc":"2.0","id":3})",
                           R"({"jsonrpc":"2.0","id":3,"method":"x"})"}) {
    auto reply = read_reply(json::parse(text), rpc::Id(3));
    ASSERT_FALSE(reply) << text;
    EXPECT_EQ(reply.error().code, core::ErrorCode::kInvalidReply) << text;
  }
}

TEST(ReplyDialect, TriesThreeStylesAndNamesThem) {
  auto second = next_call_style(CallStyle::kToolName);
  EXPECT_EQ(second, CallStyle::kMessageType);
  EXPECT_EQ(next_call_style(*second), CallStyle::kToolsCall);
  EXPECT_EQ(next_call_style(CallStyle::kToolsCall), std::nullopt);
  for (auto style : {CallStyle::kToolName, CallStyle::kMessageType, CallStyle::kToolsCall})
    EXPECT_EQ(parse_call_style(call_style_name(style)), style);
  EXPECT_EQ(parse_call_style("telepathy"), std::nullopt);
}

TEST(ReplyDialect, FramesACallInEachStyle) {
  auto frame = [](CallStyle style) {
    return json::parse(frame_call(style, envelope::MessageType::kChooseParityCall, rpc::Id(9),
                                  R"({"message_type":"CHOOSE_PARITY_CALL"})"));
  };
  json message = {{"message_type", "CHOOSE_PARITY_CALL"}};
  auto tool = frame(CallStyle::kToolName);
  EXPECT_EQ(tool["method"], "choose_parity");
  EXPECT_EQ(tool["params"], message);
  EXPECT_EQ(tool["id"], 9);
  EXPECT_EQ(frame(CallStyle::kMessageType)["method"], "CHOOSE_PARITY_CALL");
  auto mcp = frame(CallStyle::kToolsCall);
  EXPECT_EQ(mcp["method"], "tools/call");
  EXPECT_EQ(mcp["params"], (json{{"name", "choose_parity"}, {"arguments", message}}));
}

}  // namespace
}  // namespace league::agent
