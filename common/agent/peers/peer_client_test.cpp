#include <algorithm>

#include "common/agent/peers/peer_client_testing.h"

namespace league::agent::peers {
namespace {

using core::ErrorCode;
using envelope::Mode;
using envelope::testing::golden;
using nlohmann::json;

TEST_F(PeerClientTest, FillsTheHolesOfAnAnswer) {
  answer_result({{"accept", true}});
  auto reply = ask(kInvite);
  ASSERT_FALSE(reply.error) << reply.error->message;
  EXPECT_EQ(std::get<envelope::GameJoinAck>(reply.answer->message).player_id.str(), "P01");
  EXPECT_EQ(reply.answer->envelope.sender.str(), "player:P01");
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

TEST_F(PeerClientTest, ShowsWhatWasReceivedAndNotWhatWasFilledIn) {
  answer_result({{"accept", "perhaps"}});
  const auto refused = ask(kInvite);
  ASSERT_TRUE(refused.error);
  EXPECT_TRUE(refused.error->message.ends_with(R"(; received: {"accept":"perhaps"})"))
      << refused.error->message;
}

// A log that ends between the two must not show a consequence without its cause.
TEST_F(PeerClientTest, LogsAnAnswerBeforeWhatFollowsFromIt) {
  std::string order;
  caller_.answer = [&](const json& frame) {
    order += "call ";
    auto outcome = knows("GAME_INVITATION", {{"accept", true}}, kNotFound)(frame);
    outcome.record = [&] { order += "record "; };
    return outcome;
  };
  EXPECT_FALSE(ask(kInvite).error);
  EXPECT_EQ(order, "call record call ") << "the other dialect; the last answer has no consequence";
  order.clear();
  client_->ping(endpoint_, "player:P01", std::chrono::seconds(1),
                [&](bool /*alive*/) { order += "done "; });
  client_->call_tool(
      {.endpoint = endpoint_, .peer = "player:P01", .tool = "get", .arguments = "{}"},
      [&](const core::Result<json>& /*result*/) { order += "done "; });
  EXPECT_EQ(order, "call record done call record done ");
}

TEST_F(PeerClientTest, ReportsAnErrorPageAsWhatItIs) {
  answer_with(R"({"detail":[{"loc":["body"]}]})", 422);
  for (auto type : {kInvite, kOver}) {
    auto reply = ask(type);
    ASSERT_TRUE(reply.error);
    EXPECT_EQ(reply.error->code, ErrorCode::kInvalidReply);
    EXPECT_EQ(reply.error->message, R"(HTTP 422: {"detail":[{"loc":["body"]}]})");
  }
  answer_with("Internal Server Error", 500);
  EXPECT_EQ(ask(kInvite).error->message, "HTTP 500: Internal Server Error");
  answer_with(R"({"accept":true})", 422);
  EXPECT_FALSE(ask(kInvite).error) << "an answer is one whatever the status";
}

TEST_F(PeerClientTest, ARedirectNamesTheAddressToRegister) {
  caller_.answer = [](const json& /*frame*/) {
    transport::link::CallOutcome outcome;
    outcome.http_status = 307;
    outcome.context.transport =
        rpc::TransportContext::http(std::make_shared<rpc::HeaderMap>(
                                        rpc::HeaderMap{{"Location", "http://127.0.0.1:8101/mcp/"}}),
                                    "POST", rpc::SharedText("/mcp"));
    return outcome;
  };
  const auto refused = ask(kInvite);
  ASSERT_TRUE(refused.error);
  EXPECT_NE(refused.error->message.find("HTTP 307: it redirects to http://127.0.0.1:8101/mcp/"),
            std::string::npos)
      << refused.error->message;
  EXPECT_EQ(caller_.frames.size(), 1U) << "it is not followed";
}

TEST_F(PeerClientTest, ABotMayCallItselfWhatItWasStartedAs) {
  auto ack = golden("game_join_ack");
  ack["player_id"] = "P04";
  answer_result(ack);
  auto open = ask(kInvite);
  ASSERT_FALSE(open.error) << open.error->message;
  EXPECT_EQ(std::get<envelope::GameJoinAck>(open.answer->message).player_id.str(), "P01");
  EXPECT_EQ(open.notes->leniencies, (std::vector<std::string_view>{"foreign_reply_player"}));
  auto strict = ask(kInvite, Mode::kStrict);
  EXPECT_EQ(std::get<envelope::GameJoinAck>(strict.answer->message).player_id.str(), "P04")
      << "which the match refuses";
}

TEST_F(PeerClientTest, AnAnswerIsInTheConversationLeagueAndRoundOfItsCall) {
  struct Case {
    const char* field;
    json value;
    const char* leniency;
    ErrorCode code;
  };
  for (const auto& one : std::vector<Case>{
           {"conversation_id", "another", "foreign_conversation_id", ErrorCode::kInvalidReply},
           {"league_id", "another_league", "foreign_league_id", ErrorCode::kLeagueIdMismatch},
           {"round_id", 7, "foreign_round_id", ErrorCode::kInvalidFieldValue}}) {
    SCOPED_TRACE(one.field);
    auto ack = golden("game_join_ack");
    ack[one.field] = one.value;
    answer_result(ack);
    auto open = ask(kInvite);
    ASSERT_FALSE(open.error) << open.error->message;
    EXPECT_EQ(open.notes->leniencies, (std::vector<std::string_view>{one.leniency}));
    auto strict = ask(kInvite, Mode::kStrict);
    ASSERT_TRUE(strict.error);
    EXPECT_EQ(strict.error->code, one.code);
    EXPECT_EQ(strict.error->field, std::string("/") + one.field);
  }
  auto ack = golden("game_join_ack");
  for (const char* field : {"league_id", "round_id"}) ack.erase(field);
  answer_result(ack);
  EXPECT_FALSE(ask(kInvite, Mode::kStrict).error) << "what is not there says nothing else";
  call_ids_ = false;
  answer_result(golden("game_join_ack"));
  EXPECT_FALSE(ask(kInvite, Mode::kStrict).error) << "nor is there anything to compare with";
}

TEST_F(PeerClientTest, AnAcknowledgementOfTheMatchAcceptsIt) {
  answer_result({{"status", "ACK"}, {"match_id", "R1M1"}});
  auto open = ask(kInvite);
  ASSERT_FALSE(open.error) << open.error->message;
  EXPECT_TRUE(std::get<envelope::GameJoinAck>(open.answer->message).accept);
  EXPECT_TRUE(ask(kInvite, Mode::kStrict).error);
  answer_result({{"status", "ACK"}});
  auto bare = ask(kInvite);
  ASSERT_FALSE(bare.error) << bare.error->message;
  EXPECT_EQ(std::ranges::count(bare.notes->leniencies, "bare_acknowledgement"), 1);
  EXPECT_TRUE(ask(kInvite, Mode::kStrict).error);
  answer_result({{"status", "OK"}, {"match_id", "R1M2"}});
  EXPECT_TRUE(ask(kInvite).error) << "of another match";
  answer_result({{"status", "RECEIVED"}, {"match_id", "R1M1"}});
  EXPECT_TRUE(ask(kInvite).error) << "the answer is still to come";
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
  answer_with(R"({"jsonrpc":"2.0","error":{"code":-32603,"message":"x"},"id":null})", 503);
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kConnectionError);
  answer_with("<html>", 200);
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kInvalidReply);
  // A bot's own codes decide nothing: it must not buy itself another attempt.
  answer_with(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x","data":{"error_code":"E001"}}})");
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kInvalidReply);
  caller_.answer = [](const json& /*frame*/) {
    transport::link::CallOutcome outcome;
    outcome.error = core::Error{ErrorCode::kTimeout, "late", ""};
    return outcome;
  };
  EXPECT_EQ(ask(kInvite).error->code, ErrorCode::kTimeout);
}

TEST_F(PeerClientTest, ASeatIsToldHowLongItsPlayerHasAndSaysHowLongItKeptTheCall) {
  const auto answer = [this](const std::string& delay) {
    caller_.answer = [delay](const nlohmann::json& /*frame*/) {
      transport::link::CallOutcome outcome;
      outcome.http_status = 504;
      outcome.refusal_headers =
          std::make_shared<rpc::HeaderMap>(rpc::HeaderMap{{"League-Seat-Delay-Us", delay}});
      return outcome;
    };
    return ask(envelope::MessageType::kGameInvitation).seat_delay;
  };
  const std::pair<std::string, std::string> limit{"League-Time-Limit-Ms", "10000"};
  EXPECT_EQ(answer("250000"), std::nullopt) << "it is no seat";
  EXPECT_EQ(std::ranges::count(caller_.last.headers, limit), 0);
  grace_ = std::chrono::seconds(1);
  EXPECT_EQ(answer("250000"), std::chrono::milliseconds(250));
  EXPECT_EQ(std::ranges::count(caller_.last.headers, limit), 1);
  EXPECT_EQ(caller_.last.deadline, time_.steady_now() + std::chrono::seconds(11));
  EXPECT_EQ(answer("-1"), std::nullopt);
  EXPECT_EQ(answer("5000000000"), std::nullopt);
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

TEST_F(PeerClientTest, JudgesAnAnswerThatCameInAnotherWay) {
  const PeerClient client(caller_, envelope::testing::schemas(), time_, envelope::Mode::kOpen);
  PeerCall call;
  call.endpoint = endpoint_;
  call.type = kInvite;
  call.reply_defaults.sender = "player:P01";
  call.reply_defaults.conversation_id = core::ConversationId("convr1m1001");
  call.reply_defaults.player_id = core::PlayerId("P01");
  call.reply_defaults.match_id = core::MatchId("R1M1");
  const auto judged = [&](std::string bytes) {
    transport::link::CallOutcome outcome;
    outcome.http_status = 200;
    outcome.bytes = std::move(bytes);
    return client.judge(call, rpc::Id(7), std::move(outcome));
  };
  const auto good = judged(R"({"jsonrpc":"2.0","id":7,"result":{"accept":true}})");
  EXPECT_FALSE(good.error);
  EXPECT_TRUE(good.answer);
  const auto unknown = judged(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}})");
  EXPECT_TRUE(unknown.error);
  EXPECT_TRUE(unknown.has_no_method);
  EXPECT_TRUE(judged("<html>").error);
  EXPECT_TRUE(caller_.frames.empty()) << "nobody is called";
}

}  // namespace
}  // namespace league::agent::peers
