#include "common/mcp/client/client_calls.h"

#include "common/mcp/client/client_session_testing.h"

namespace league::mcp::client {
namespace {

using nlohmann::json;
using testing::ScriptedConnection;

class ToolCallTest : public testing::ClientSessionTest {
 protected:
  /// A server of 2026-07-28 whose tool answers with `results`, one after the other, the last for
  /// ever.
  void serve(std::vector<json> results) {
    connector_.script = [this, results = std::move(results)](ScriptedConnection& server,
                                                             const json& message, const Headers&) {
      if (message["method"] == "server/discover")
        return server.result(message, {{"supportedVersions", {"2026-07-28"}}});
      calls_.push_back(message);
      server.result(message, results[std::min(calls_.size(), results.size()) - 1]);
    };
  }
  SessionAnswer call(bool answers = true) {
    connected_.reset();
    auto open = session();
    ToolCall call{.name = "t", .arguments = R"({"a":1})", .deadline = deadline()};
    if (answers) {
      call.answer_question = [this](const std::string& method, const json&) {
        asked_.push_back(method);
        return method == "roots/list" ? std::nullopt : std::optional(json{{"action", "accept"}});
      };
    }
    return now(call_tool(open.get(), std::move(call)));
  }
  static json needs(json questions, const json& state = nullptr) {
    json result = {{"resultType", "input_required"}, {"inputRequests", std::move(questions)}};
    if (!state.is_null()) result["requestState"] = state;
    return result;
  }
  const json elicit_ = {{"method", "elicitation/create"}, {"params", json::object()}};
  std::vector<json> calls_;
  std::vector<std::string> asked_;
};

TEST_F(ToolCallTest, EachRoundCarriesItsOwnAnswersAndState) {
  serve({needs({{"q1", elicit_}}, "state \"1\""), needs({{"q2", elicit_}}), json{{"content", 1}}});
  auto answer = call();
  EXPECT_FALSE(answer.error);
  EXPECT_EQ(answer.response.result["content"], 1);
  ASSERT_EQ(calls_.size(), 3U);
  EXPECT_NE(calls_[0]["id"], calls_[1]["id"]);
  EXPECT_FALSE(calls_[0]["params"].contains("inputResponses"));
  EXPECT_EQ(calls_[1]["params"]["inputResponses"], (json{{"q1", {{"action", "accept"}}}}));
  EXPECT_EQ(calls_[1]["params"]["requestState"], "state \"1\"");
  EXPECT_EQ(calls_[1]["params"]["arguments"]["a"], 1);
  EXPECT_EQ(calls_[2]["params"]["inputResponses"], (json{{"q2", {{"action", "accept"}}}}));
  EXPECT_FALSE(calls_[2]["params"].contains("requestState")) << "none was given";
}

TEST_F(ToolCallTest, WhatCannotBeAnsweredIsUnfinished) {
  serve({needs({{"a", elicit_}, {"b", {{"method", "roots/list"}}}})});
  EXPECT_TRUE(call().is_unfinished);
  EXPECT_EQ(calls_.size(), 1U);
  for (const json& odd : {json(7), json::array(), json{{"a", 7}}, json{{"a", {{"method", 7}}}}}) {
    serve({needs(odd)});
    EXPECT_TRUE(call().is_unfinished) << odd;
  }
  calls_.clear();
  serve({needs({{"a", elicit_}})});
  EXPECT_TRUE(call(/*answers=*/false).is_unfinished);
  EXPECT_EQ(calls_.size(), 1U);
}

TEST_F(ToolCallTest, AToolThatAsksWithoutEndIsLeft) {
  serve({needs({{"a", elicit_}}, "again")});
  EXPECT_TRUE(call().is_unfinished);
  EXPECT_EQ(calls_.size(), 16U);
}

}  // namespace
}  // namespace league::mcp::client
