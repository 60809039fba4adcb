#include "common/agent/dialects/call_dialects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/dialects/dialect_cache.h"

namespace league::agent::dialects {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr auto kChoice = MessageType::kChooseParityCall;
constexpr auto kOver = MessageType::kGameOver;

std::vector<std::string> names(const std::vector<CallDialect>& dialects) {
  std::vector<std::string> all;
  for (const auto& way : dialects)
    all.push_back(std::string(call_style_name(way.style)) + " " + std::string(way.name));
  return all;
}

TEST(CallDialects, NamesItsStyles) {
  for (auto style :
       {CallStyle::kToolName, CallStyle::kMessageType, CallStyle::kLowerCaseType,
        CallStyle::kHandleMessage, CallStyle::kBareBody, CallStyle::kToolsCall, CallStyle::kMcp})
    EXPECT_EQ(parse_call_style(call_style_name(style)), style);
  EXPECT_EQ(parse_call_style("telepathy"), std::nullopt);
}

TEST(CallDialects, BeginsWithTheToolsNameAndGoesOnAsTheProtocolSays) {
  EXPECT_EQ(names(call_dialects(kChoice, CallStyle::kToolName)),
            (std::vector<std::string>{
                "tool_name choose_parity", "message_type CHOOSE_PARITY_CALL",
                "lower_case_type choose_parity_call", "tool_name parity_choose",
                "tool_name receive_choose_parity_call", "handle_message handle_message",
                "bare_body choose_parity", "tools_call choose_parity", "tools_call parity_choose",
                "tools_call receive_choose_parity_call"}));
}

TEST(CallDialects, BeginsWithTheStyleThatItIsGiven) {
  for (auto style : {CallStyle::kMessageType, CallStyle::kLowerCaseType, CallStyle::kHandleMessage,
                     CallStyle::kBareBody, CallStyle::kToolsCall}) {
    auto dialects = call_dialects(kChoice, style);
    EXPECT_EQ(dialects.front().style, style);
    EXPECT_EQ(dialects.size(), call_dialects(kChoice, CallStyle::kToolName).size());
  }
  EXPECT_EQ(names(call_dialects(MessageType::kRoundCompleted, CallStyle::kMcp)),
            std::vector<std::string>{"mcp notify_round_completed"});
}

TEST(CallDialects, FramesACallInEachWay) {
  auto frame = [](CallStyle style, const char* name) {
    return json::parse(
        frame_call({style, name}, rpc::Id(9), R"({"message_type":"CHOOSE_PARITY_CALL"})"));
  };
  const json message = {{"message_type", "CHOOSE_PARITY_CALL"}};
  auto tool = frame(CallStyle::kToolName, "choose_parity");
  EXPECT_EQ(tool["method"], "choose_parity");
  EXPECT_EQ(tool["params"], message);
  EXPECT_EQ(tool["id"], 9);
  auto handle = frame(CallStyle::kHandleMessage, "handle_message");
  EXPECT_EQ(handle["method"], "handle_message");
  EXPECT_EQ(handle["params"], (json{{"message", message}}));
  auto mcp = frame(CallStyle::kToolsCall, "parity_choose");
  EXPECT_EQ(mcp["method"], "tools/call");
  EXPECT_EQ(mcp["params"], (json{{"name", "parity_choose"}, {"arguments", message}}));
  EXPECT_EQ(frame(CallStyle::kBareBody, "choose_parity"), message);
}

TEST(CallDialects, KnowsHowPeersSayThatTheyHaveNoSuchMethod) {
  struct Case {
    int code;
    const char* message;
    const char* data;
    bool says_so;
    bool says_so_in_a_search;
  };
  const CallDialect way{CallStyle::kToolName, "choose_parity"};
  for (const auto& one : std::vector<Case>{
           {-32601, "no", "null", true, true},
           {-32603, "Unknown tool: choose_parity", "null", true, true},
           {-32602, "Tool choose_parity not found", "null", true, true},
           {-32000, "unknown method", "null", true, true},
           {0, "Unknown tool: choose_parity", "null", true, true},
           {-32000, "Missing required fields: message", "null", false, true},
           {-32602, "I am broken", "null", false, false},
           {-32603, "player not found", "null", false, false},
           {-32600, "Unknown method", "null", false, false},
           {-32602, "unknown method", R"({"error_code":"E012"})", false, false},
           {-32603, "Unknown message type", "null", true, true},
           {-32000, "P01 said: Method not found: tools/call", "null", false, false},
           {-32603, "Unknown tool: game_over", "null", false, false},
           {-32603, "Unknown method: tools/call", "null", false, false},
       }) {
    const rpc::ErrorObject error{one.code, one.message, json::parse(one.data)};
    EXPECT_EQ(says_no_such_method(error, way, false), one.says_so) << one.message;
    EXPECT_EQ(says_no_such_method(error, way, true), one.says_so_in_a_search) << one.message;
  }
  const rpc::ErrorObject fields{-32000, "Missing required fields: match_id", nullptr};
  EXPECT_FALSE(says_no_such_method(fields, {CallStyle::kHandleMessage, "handle_message"}, true))
      << "inside the wrapper it is about the message";
  const rpc::ErrorObject wrapper{-32603, "Unknown method: tools/call", nullptr};
  EXPECT_TRUE(says_no_such_method(wrapper, {CallStyle::kToolsCall, "choose_parity"}, true));
  const rpc::ErrorObject no_request{-32600, "Invalid Request", nullptr};
  EXPECT_TRUE(says_no_such_method(no_request, {CallStyle::kBareBody, "choose_parity"}, true));
  EXPECT_FALSE(says_no_such_method(no_request, way, true));
}

TEST(CallDialects, TellsAnUnknownWrapperFromAnUnknownToolInIt) {
  const CallDialect way{CallStyle::kToolsCall, "choose_parity"};
  EXPECT_TRUE(says_no_such_wrapper({-32601, "Method not found: tools/call", nullptr}, way));
  EXPECT_FALSE(says_no_such_wrapper({-32601, "no tool choose_parity", nullptr}, way));
  EXPECT_FALSE(says_no_such_wrapper({-32603, "Unknown tool", nullptr}, way));
  EXPECT_FALSE(says_no_such_wrapper({-32601, "?", nullptr}, {CallStyle::kToolName, "x"}));
}

TEST(DialectCache, RemembersWhatWorkedForEachMessage) {
  DialectCache known;
  auto search = known.search("p", kChoice, CallStyle::kToolName);
  known.prove("p", kChoice, {CallStyle::kToolName, "parity_choose", true});
  auto again = known.search("p", kChoice, CallStyle::kToolName);
  EXPECT_EQ(again.way().name, "parity_choose");
  EXPECT_TRUE(again.is_proven);
  EXPECT_EQ(again.dialects.size(), search.dialects.size());
  EXPECT_EQ(known.search("p", kOver, CallStyle::kToolName).way().name, "notify_match_result")
      << "a name for one message says nothing of the others";
  EXPECT_EQ(known.search("q", kChoice, CallStyle::kToolName).way().name, "choose_parity");
}

TEST(DialectCache, BeginsWithWhatThePeerKnows) {
  DialectCache known;
  known.find("p", kChoice, {CallStyle::kToolName, "parity_choose", true});
  auto search = known.search("p", kChoice, CallStyle::kToolName);
  EXPECT_EQ(search.way().name, "parity_choose");
  EXPECT_TRUE(search.is_proven);
  EXPECT_FALSE(known.is_proven("p")) << "no answer was valid yet";
  known.forget_failures("p");
  EXPECT_FALSE(known.search("p", kChoice, CallStyle::kToolName).is_proven);
}

TEST(DialectCache, AStyleThatWorkedComesFirstForOtherMessages) {
  DialectCache known;
  known.prove("p", kChoice, {CallStyle::kHandleMessage, "handle_message"});
  EXPECT_EQ(known.search("p", kOver, CallStyle::kToolName).way().style, CallStyle::kHandleMessage);
}

TEST(DialectCache, RemembersThatNothingWorkedUntilThePeerIsGone) {
  DialectCache known;
  auto search = known.search("p", kOver, CallStyle::kToolName);
  std::size_t tried = 1;
  while (known.next("p", kOver, search, search.way().style == CallStyle::kToolsCall)) ++tried;
  EXPECT_EQ(tried, search.dialects.size() - 1) << "a missing wrapper is tried once";
  auto again = known.search("p", kOver, CallStyle::kToolName);
  EXPECT_EQ(again.way().name, "notify_match_result");
  EXPECT_FALSE(known.next("p", kOver, again, false));
  EXPECT_EQ(search.way().style, CallStyle::kToolsCall) << "the last one that was tried";
  auto other = known.search("p", kChoice, CallStyle::kToolName);
  EXPECT_TRUE(std::ranges::none_of(other.dialects, [](const CallDialect& way) {
    return way.style == CallStyle::kToolsCall;
  })) << "nor is it tried for another message";
  known.forget_failures("p");
  again = known.search("p", kOver, CallStyle::kToolName);
  EXPECT_TRUE(known.next("p", kOver, again, false));
}

TEST(DialectCache, AProvenWayThatFailsIsSearchedForOnceMore) {
  DialectCache known;
  known.prove("p", kChoice, {CallStyle::kMessageType, "CHOOSE_PARITY_CALL"});
  auto search = known.search("p", kChoice, CallStyle::kToolName);
  ASSERT_TRUE(known.next("p", kChoice, search, false));
  EXPECT_FALSE(search.is_proven);
  while (known.next("p", kChoice, search, false)) {
  }
  auto later = known.search("p", kChoice, CallStyle::kToolName);
  EXPECT_TRUE(later.is_hopeless);
  EXPECT_EQ(later.way().name, "CHOOSE_PARITY_CALL")
      << "a bot that was only confused is found again";
}

TEST(DialectCache, SilenceInASearchLeadsToTheNextWay) {
  DialectCache known;
  auto search = known.search("p", kChoice, CallStyle::kToolName);
  known.pass_over("p", kChoice, search);
  EXPECT_EQ(known.search("p", kChoice, CallStyle::kToolName).way().name, "choose_parity")
      << "the first way is no search";
  ASSERT_TRUE(known.next("p", kChoice, search, false));
  known.pass_over("p", kChoice, search);
  EXPECT_EQ(known.search("p", kChoice, CallStyle::kToolName).way().name, "choose_parity_call");
}

TEST(DialectCache, WhatItIsToldCountsUntilSomethingElseWorked) {
  DialectCache known;
  known.tell("p", CallStyle::kToolsCall);
  EXPECT_EQ(known.style_of("p"), CallStyle::kToolsCall);
  known.prove("p", kChoice, {CallStyle::kMessageType, "CHOOSE_PARITY_CALL"});
  known.tell("p", CallStyle::kToolsCall);
  known.tell("p", CallStyle::kHandleMessage);
  EXPECT_EQ(known.style_of("p"), CallStyle::kMessageType);
  EXPECT_EQ(known.style_of("q"), std::nullopt);
}

}  // namespace
}  // namespace league::agent::dialects
