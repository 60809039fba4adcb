#include "common/agent/dialects/reply_dialect.h"

#include <gtest/gtest.h>

namespace league::agent::dialects {
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
      {"another id",
       R"({"jsonrpc":"2.0","id":1,"result":{"accept":true}})",
       R"({"accept":true})",
       {"foreign_id"}},
      {"the id with a fraction",
       R"({"jsonrpc":"2.0","id":3.0,"result":{"accept":true}})",
       R"({"accept":true})",
       {}},
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

TEST(ReplyDialect, AToolsResultIsTheAnswerToAToolsCall) {
  struct Case {
    const char* result;
    std::vector<std::string_view> leniencies;
  };
  const std::vector<Case> cases = {
      {R"({"content":[],"structuredContent":{"accept":true}})", {}},
      {R"({"content":[{"type":"text","text":"{\"accept\":true}"}]})", {}},
      {R"({"accept":true})", {}},
      {R"({"response":{"accept":true}})", {"result_response"}},
  };
  for (const auto called : {CallStyle::kToolsCall, CallStyle::kMcp}) {
    for (const auto& one : cases) {
      json document = {{"jsonrpc", "2.0"}, {"id", 3}, {"result", json::parse(one.result)}};
      auto reply = read_reply(std::move(document), rpc::Id(3), called);
      ASSERT_TRUE(reply) << one.result;
      EXPECT_EQ(reply->message, json::parse(R"({"accept":true})")) << one.result;
      EXPECT_EQ(reply->leniencies.names(), one.leniencies) << one.result;
    }
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

TEST(ReplyDialect, AToolThatFailedIsAnError) {
  auto reply = read_reply(
      json::parse(
          R"({"jsonrpc":"2.0","id":3,"result":{"isError":true,"content":[{"type":"text","text":"Unknown tool: x"}]}})"),
      rpc::Id(3));
  ASSERT_TRUE(reply && reply->error);
  EXPECT_EQ(reply->error->message, "Unknown tool: x");
  EXPECT_FALSE(failed_tool(json::parse(R"({"isError":false})")));
  EXPECT_FALSE(failed_tool(json::parse("[]")));
}

TEST(ReplyDialect, KnowsAReceipt) {
  for (const char* text :
       {R"({"status":"RECEIVED"})", R"({"status":"received","message_type":"GAME_INVITATION"})"})
    EXPECT_TRUE(says_received(json::parse(text))) << text;
  for (const char* text :
       {R"({"status":"ok"})", R"({"status":"ACK"})", R"({"ok":true})", R"({"status":7})", "[]",
        R"({"status":"RECEIVED","parity_choice":"maybe"})", "{}"})
    EXPECT_FALSE(says_received(json::parse(text))) << text;
}

TEST(ReplyDialect, KnowsAnAnswerFromAnErrorPage) {
  EXPECT_TRUE(looks_like_answer(json::parse(R"({"accept":null})")));
  EXPECT_TRUE(looks_like_answer(json::parse(R"({"match_id":"R1M1","status":"ACK"})")));
  for (const char* text :
       {R"({"detail":"Not Found"})", R"({"status":404,"path":"/mcp"})", "[]", "7"})
    EXPECT_FALSE(looks_like_answer(json::parse(text))) << text;
}

}  // namespace
}  // namespace league::agent::dialects
