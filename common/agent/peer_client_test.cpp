#include "common/agent/peer_client.h"

#include <gtest/gtest.h>

#include "common/envelope/test_support.h"
#include "tests/support/fake_clock.h"

namespace league::agent {
namespace {

using core::ErrorCode;
using envelope::Mode;
using envelope::testing::golden;
using nlohmann::json;

/// Answers every call at once as the test says.
class ScriptedCaller final : public transport::Caller {
 public:
  std::function<transport::CallOutcome(const json& frame)> answer;
  std::vector<json> frames;

  void call(transport::OutboundCall call, Completion completion) override {
    frames.push_back(json::parse(*call.bytes));
    completion(answer(frames.back()));
  }
};

class PeerClientTest : public ::testing::Test {
 protected:
  PeerReply ask(envelope::MessageType type, Mode mode = Mode::kOpen) {
    if (!client_ || mode != mode_) {
      client_ = std::make_unique<PeerClient>(caller_, envelope::testing::schemas(), time_, mode);
      mode_ = mode;
    }
    PeerCall call;
    call.endpoint = endpoint_;
    call.peer = "player:P01";
    call.conversation_id = "convr1m1001";
    call.type = type;
    call.message = std::make_shared<const std::string>("{}");
    call.reply_defaults.sender = "player:P01";
    call.reply_defaults.conversation_id = core::ConversationId("convr1m1001");
    call.reply_defaults.player_id = core::PlayerId("P01");
    call.reply_defaults.match_id = core::MatchId("R1M1");
    std::optional<PeerReply> got;
    client_->call(std::move(call), [&](PeerReply reply) {
      EXPECT_FALSE(got) << "twice";
      got = std::move(reply);
    });
    EXPECT_TRUE(got);
    return got ? std::move(*got) : PeerReply{};
  }
  void answer_with(std::string bytes, int http_status = 200) {
    caller_.answer = [bytes = std::move(bytes), http_status](const json& /*frame*/) {
      transport::CallOutcome outcome;
      outcome.http_status = http_status;
      outcome.bytes = bytes;
      return outcome;
    };
  }
  void answer_result(const json& result) {
    caller_.answer = [result](const json& frame) {
      transport::CallOutcome outcome;
      outcome.http_status = 200;
      outcome.bytes = json{{"jsonrpc", "2.0"}, {"id", frame["id"]}, {"result", result}}.dump();
      return outcome;
    };
  }

  static constexpr auto kInvite = envelope::MessageType::kGameInvitation;
  static constexpr auto kOver = envelope::MessageType::kGameOver;
  league::testing::FakeTime time_;
  ScriptedCaller caller_;
  std::unique_ptr<PeerClient> client_;
  Mode mode_ = Mode::kOpen;
  transport::Endpoint endpoint_ = *transport::parse_endpoint("http://127.0.0.1:8101/mcp");
};

TEST_F(PeerClientTest, FillsTheHolesOfAnAnswer) {
  answer_result({{"accept", true}});
  auto reply = ask(kInvite);
  ASSERT_FALSE(reply.error) << reply.error->message;
  EXPECT_EQ(reply.message["player_id"], "P01");
  EXPECT_EQ(reply.message["sender"], "player:P01");
  EXPECT_EQ(reply.message["message_type"], "GAME_JOIN_ACK");
  EXPECT_FALSE(reply.notes->leniencies.empty());
  auto strict = ask(kInvite, Mode::kStrict);
  EXPECT_EQ(strict.error->code, ErrorCode::kMissingRequiredField);
}

TEST_F(PeerClientTest, NotesTheConversationThatTheAnswerNames) {
  auto message = golden("game_join_ack");
  message["conversation_id"] = "another";
  answer_result(message);
  EXPECT_EQ(ask(kInvite).notes->conversation_id, "another");
  answer_result({{"status", "ok"}, {"conversation_id", std::string(500, 'c')}});
  EXPECT_EQ(ask(kOver).notes->conversation_id, std::string(500, 'c'));
  answer_result({{"accept", true}});
  EXPECT_EQ(ask(kInvite).notes->conversation_id, "convr1m1001") << "that of the call";
}

TEST_F(PeerClientTest, TriesTheStylesInOrderAndRemembersTheOneThatWorked) {
  caller_.answer = [](const json& frame) {
    transport::CallOutcome outcome;
    outcome.http_status = 404;  // whatever the status says
    json reply = {{"jsonrpc", "2.0"}, {"id", frame["id"]}};
    if (frame["method"] == "tools/call") {
      outcome.http_status = 200;
      reply["result"] = {{"accept", true}};
    } else {
      reply["error"] = {{"code", -32601}, {"message", "no"}};
    }
    outcome.bytes = reply.dump();
    return outcome;
  };
  EXPECT_FALSE(ask(kInvite).error);
  ASSERT_EQ(caller_.frames.size(), 3U);
  EXPECT_EQ(caller_.frames[0]["method"], "handle_game_invitation");
  EXPECT_EQ(caller_.frames[1]["method"], "GAME_INVITATION");
  EXPECT_NE(caller_.frames[0]["id"], caller_.frames[1]["id"]);
  EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kToolsCall);
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(caller_.frames.size(), 4U);
}

TEST_F(PeerClientTest, TakesNearlyEverythingForAnAcknowledgement) {
  struct Case {
    const char* bytes;
    int http_status;
    bool is_fine;
  };
  for (const auto& one : std::vector<Case>{
           {R"({"jsonrpc":"2.0","id":1,"result":{}})", 200, true},
           {R"({"jsonrpc":"2.0","id":1,"result":"ok"})", 200, true},
           {"", 204, true},
           {"", 200, true},
           {"OK", 200, true},
           {"<html>", 202, true},
           {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}})", 404, true},
           {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"?"}})", 200, false},
           {"<html>", 500, false},
           {"", 503, false},
       }) {
    answer_with(one.bytes, one.http_status);
    EXPECT_EQ(!ask(kOver).error, one.is_fine) << one.http_status << " " << one.bytes;
  }
}

TEST_F(PeerClientTest, TellsTroubleOfTheConnectionFromABadAnswer) {
  answer_with("<html>", 502);
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kConnectionError);
  answer_with("<html>", 200);
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kInvalidReply);
  // A bot's own codes decide nothing: it must not buy itself another attempt.
  answer_with(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"error_code":"E001"}}})");
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kInvalidReply);
  caller_.answer = [](const json& /*frame*/) {
    transport::CallOutcome outcome;
    outcome.error = core::Error{ErrorCode::kTimeout, "late", ""};
    return outcome;
  };
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
}

TEST_F(PeerClientTest, ReadsALeagueErrorInPlaceOfTheAnswer) {
  auto error = golden("league_error");
  answer_result(error);
  auto reply = ask(envelope::MessageType::kLeagueQuery);
  ASSERT_TRUE(reply.error);
  // A bot's word for its fault decides nothing; the manager's does (tests/in_process).
  EXPECT_EQ(reply.error->code, core::ErrorCode::kInvalidReply);
  EXPECT_NE(reply.error->message.find(error["error_code"].get<std::string>()), std::string::npos);
  auto acknowledged = ask(envelope::MessageType::kMatchResultReport);
  EXPECT_TRUE(acknowledged.error);
}

TEST_F(PeerClientTest, NotesOrRefusesAForeignSender) {
  auto ack = golden("game_join_ack");
  ack["sender"] = "player:P09";
  answer_result(ack);
  auto open = ask(kInvite);
  ASSERT_FALSE(open.error) << open.error->message;
  EXPECT_EQ(open.notes->leniencies, (std::vector<std::string_view>{"foreign_reply_sender"}));
  auto strict = ask(kInvite, Mode::kStrict);
  ASSERT_TRUE(strict.error);
  EXPECT_EQ(strict.error->code, ErrorCode::kSenderMismatch);
  EXPECT_EQ(strict.notes->verdict, ErrorCode::kSenderMismatch);
}

TEST_F(PeerClientTest, AnyAnswerToAPingIsLife) {
  answer_with(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}})", 500);
  (void)ask(kOver);
  bool is_alive = false;
  client_->ping(endpoint_, "player:P01", std::chrono::seconds(1),
                [&](bool alive) { is_alive = alive; });
  EXPECT_TRUE(is_alive);
}

TEST_F(PeerClientTest, NoAnswerMakesItThrow) {
  for (const char* bytes :
       {"null", "7", "[]", "[[]]", "{}", R"({"jsonrpc":2})",
        R"({"jsonrpc":"2.0","id":1,"result":[]})", R"({"jsonrpc":"2.0","id":1,"result":null})",
        R"({"jsonrpc":"2.0","id":1,"error":[]})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":"x"}})", R"({"result":{"content":[{}]}})",
        R"({"result":{"content":[{"text":"["}]}})", "\xff\xfe", R"({"params":{},"method":7})",
        R"({"jsonrpc":"2.0","id":1,"result":{"message_type":"LEAGUE_ERROR"}})",
        R"({"jsonrpc":"2.0","id":1,"result":{"message_type":"LEAGUE_ERROR","error_code":7}})",
        R"({"jsonrpc":"2.0","id":1,"result":{"accept":"yes","sender":7,"timestamp":{}}})"}) {
    answer_with(bytes);
    for (auto mode : {Mode::kOpen, Mode::kStrict}) {
      EXPECT_TRUE(ask(kInvite, mode).error) << bytes;
      (void)ask(kOver, mode);
    }
  }
}

/// A peer that is called directly and through sessions.
class PlainMcpTest : public PeerClientTest {
 protected:
  PlainMcpTest() {
    client_ = std::make_unique<PeerClient>(
        caller_, envelope::testing::schemas(), time_, Mode::kOpen,
        PlainMcp{&sessions_, [this](const transport::Endpoint&) { return is_refused_; }});
  }
  static transport::CallOutcome outcome(const json& frame, const json& rest,
                                        int http_status = 200) {
    transport::CallOutcome out;
    out.http_status = http_status;
    json reply = {{"jsonrpc", "2.0"}, {"id", frame["id"]}};
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
      transport::CallOutcome out;
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
    EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kMcp);
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
  EXPECT_EQ(caller_.frames.size(), 3U);
  EXPECT_EQ(sessions_.frames.size(), 1U);
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
  client_->remember_style(endpoint_, CallStyle::kMcp);
  sessions_.answer = [](const json& frame) {
    return outcome(frame, {{"error", {{"code", -32602}, {"message", "Unknown tool"}}}});
  };
  EXPECT_FALSE(ask(kOver).error) << "nor do they cost a server without such a tool anything";
}

TEST_F(PlainMcpTest, ChildrenAreNegotiatedWithFirst) {
  endpoint_ = *transport::parse_endpoint("stdio:python3 bot.py");
  EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kMcp);
  sessions_work();
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_TRUE(caller_.frames.empty());
  EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kMcp);
}

TEST_F(PlainMcpTest, AChildThatIsALeagueAgentPlaysAllTheSame) {
  endpoint_ = *transport::parse_endpoint("stdio:python3 bot.py");
  nobody_negotiates();
  answer_result({{"accept", true}});
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kToolName);
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(sessions_.frames.size(), 1U);
}

TEST_F(PlainMcpTest, SilenceOnAConnectionLetsTheNextAttemptNegotiate) {
  endpoint_ = *transport::parse_endpoint("tcp://127.0.0.1:9");
  caller_.answer = [](const json&) {
    transport::CallOutcome out;
    out.error = core::Error{ErrorCode::kTimeout, "late", ""};
    return out;
  };
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
  sessions_work();
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kMcp);
}

TEST_F(PlainMcpTest, WhoIsSilentOnABusIsCalledAgainAsBefore) {
  endpoint_ = *transport::parse_endpoint("nats:0123456789abcdef");
  caller_.answer = [](const json&) {
    transport::CallOutcome out;
    out.error = core::Error{ErrorCode::kTimeout, "late", ""};
    return out;
  };
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
  EXPECT_EQ(client_->style_of(endpoint_), CallStyle::kToolName);
  EXPECT_TRUE(sessions_.frames.empty());
}

}  // namespace
}  // namespace league::agent
