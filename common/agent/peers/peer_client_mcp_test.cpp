#include "common/agent/peers/peer_client_testing.h"

namespace league::agent::peers {
namespace {

using core::ErrorCode;
using envelope::Mode;
using nlohmann::json;

/// A peer that is called directly and through sessions.
class PlainMcpTest : public PeerClientTest {
 protected:
  PlainMcpTest() {
    client_ = std::make_unique<PeerClient>(
        caller_, envelope::testing::schemas(), time_, Mode::kOpen,
        PlainMcp{&sessions_, [this](const transport::link::Endpoint&) { return is_refused_; }});
  }
  static transport::link::CallOutcome outcome(const json& frame, const json& rest,
                                              int http_status = 200) {
    transport::link::CallOutcome out;
    out.http_status = http_status;
    json reply = {{"jsonrpc", "2.0"}, {"id", frame.value("id", json())}};
    reply.update(rest);
    out.bytes = reply.dump();
    return out;
  }
  static json tool_result() {
    return {
        {"result",
         {{"content", {{{"type", "text"}, {"text", R"({"accept":true})"}}}}, {"isError", false}}}};
  }
  void sessions_work() {
    sessions_.answer = [](const json& frame) { return outcome(frame, tool_result()); };
  }
  void nobody_negotiates() {
    sessions_.answer = [this](const json&) {
      is_refused_ = true;
      transport::link::CallOutcome out;
      out.error = core::Error{ErrorCode::kInvalidReply, "no MCP server", ""};
      return out;
    };
  }

  ScriptedCaller sessions_;
  bool is_refused_ = false;
};

TEST_F(PlainMcpTest, RefusalsThatAskForAHandshakeLeadToASession) {
  struct Case {
    int http_status;
    json rest;
  };
  for (const auto& one : std::vector<Case>{
           {400, {{"error", {{"code", -32600}, {"message", "Missing session ID"}}}}},
           {400, {{"error", {{"code", -32000}, {"message", "Server not initialized"}}}}},
           {406, {{"error", {{"code", -32000}, {"message", "Not Acceptable"}}}}},
           {200, {{"error", {{"code", -32602}, {"message", "before initialization"}}}}},
       }) {
    client_ = std::make_unique<PeerClient>(caller_, envelope::testing::schemas(), time_,
                                           Mode::kOpen, PlainMcp{&sessions_, nullptr});
    caller_.answer = [&](const json& frame) { return outcome(frame, one.rest, one.http_status); };
    sessions_work();
    caller_.frames.clear();
    sessions_.frames.clear();
    auto reply = ask(kInvite);
    ASSERT_FALSE(reply.error) << reply.error->message;
    EXPECT_EQ(caller_.frames.size(), 1U);
    EXPECT_EQ(sessions_.frames.at(0)["method"], "tools/call");
    EXPECT_EQ(sessions_.frames.at(0)["params"]["name"], "handle_game_invitation");
    EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kMcp);
    EXPECT_FALSE(ask(kInvite).error);
    EXPECT_EQ(caller_.frames.size(), 1U) << "the style is remembered";
  }
}

TEST_F(PlainMcpTest, AServerWithoutTheMethodIsTriedInAllWays) {
  caller_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32601}, {"message", "Method not found"}}}});
  };
  sessions_work();
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames.size(), 8U) << "the wrappers once each";
  EXPECT_EQ(sessions_.frames.size(), 1U);
}

TEST_F(PlainMcpTest, AServerWithoutOurToolsIsSearchedOncePerMessage) {
  caller_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32601}, {"message", "Method not found"}}}});
  };
  sessions_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32602}, {"message", "Unknown tool"}}}});
  };
  auto refused = ask(kInvite);
  ASSERT_TRUE(refused.error);
  EXPECT_TRUE(refused.has_no_method);
  EXPECT_EQ(caller_.frames.size(), 8U) << "the wrappers once each";
  EXPECT_EQ(sessions_.frames.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames.size(), 11U) << "one call each, and no search";
  EXPECT_EQ(sessions_.frames.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ask(kOver).error);
  EXPECT_EQ(caller_.frames.size(), 11U + 5 + 2) << "the other message is searched for once, too";
}

TEST_F(PlainMcpTest, ABadBotIsJudgedByItsOwnAnswer) {
  caller_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32602}, {"message", "I am broken"}}}});
  };
  nobody_negotiates();
  auto reply = ask(kInvite);
  ASSERT_TRUE(reply.error);
  EXPECT_NE(reply.error->message.find("I am broken"), std::string::npos);
  EXPECT_EQ(sessions_.frames.size(), 1U);
  (void)ask(kInvite);
  EXPECT_EQ(sessions_.frames.size(), 1U) << "it is known to be no MCP server";
}

TEST_F(PlainMcpTest, WhoPlayedAsALeagueAgentStaysOne) {
  answer_result({{"accept", true}});
  EXPECT_FALSE(ask(kInvite).error);
  answer_with(R"({"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"x"}})");
  EXPECT_TRUE(ask(kInvite).error);
  EXPECT_TRUE(sessions_.frames.empty());
}

TEST_F(PlainMcpTest, NewsThatNobodyKnowsStartNoNegotiation) {
  caller_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32601}, {"message", "no"}}}});
  };
  EXPECT_FALSE(ask(kOver).error) << "-32601 acknowledges";
  EXPECT_TRUE(sessions_.frames.empty());
  client_->remember_style(endpoint_, dialects::CallStyle::kMcp);
  sessions_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32602}, {"message", "Unknown tool"}}}});
  };
  EXPECT_FALSE(ask(kOver).error) << "nor do they cost a server without such a tool anything";
}

TEST_F(PlainMcpTest, ChildrenAreNegotiatedWithFirst) {
  endpoint_ = *transport::link::parse_endpoint("stdio:python3 bot.py");
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kMcp);
  sessions_work();
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_TRUE(caller_.frames.empty());
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kMcp);
}

TEST_F(PlainMcpTest, WhoWasRegisteredByAToolsNameIsStillNegotiatedWith) {
  endpoint_ = *transport::link::parse_endpoint("stdio:python3 bot.py");
  client_->on_registered(endpoint_, dialects::CallStyle::kToolName);
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kMcp);
}

TEST_F(PlainMcpTest, AChildThatIsALeagueAgentPlaysAllTheSame) {
  endpoint_ = *transport::link::parse_endpoint("stdio:python3 bot.py");
  nobody_negotiates();
  answer_result({{"accept", true}});
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kToolName);
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(sessions_.frames.size(), 1U);
}

TEST_F(PlainMcpTest, SilenceOnAConnectionLetsTheNextAttemptNegotiate) {
  endpoint_ = *transport::link::parse_endpoint("tcp://127.0.0.1:9");
  caller_.answer = [](const json&) {
    transport::link::CallOutcome out;
    out.error = core::Error{ErrorCode::kTimeout, "late", ""};
    return out;
  };
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
  sessions_work();
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kMcp);
}

TEST_F(PlainMcpTest, WhoIsSilentOnABusIsCalledAgainAsBefore) {
  endpoint_ = *transport::link::parse_endpoint("nats:0123456789abcdef");
  caller_.answer = [](const json&) {
    transport::link::CallOutcome out;
    out.error = core::Error{ErrorCode::kTimeout, "late", ""};
    return out;
  };
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
  EXPECT_EQ(client_->style_of(endpoint_), dialects::CallStyle::kToolName);
  EXPECT_TRUE(sessions_.frames.empty());
}

}  // namespace
}  // namespace league::agent::peers
