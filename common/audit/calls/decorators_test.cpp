#include <gtest/gtest.h>

#include <vector>

#include "common/audit/calls/audited_caller.h"
#include "common/audit/calls/audited_handler.h"
#include "tests/support/fake_clock.h"

namespace league::audit::calls {
namespace {

using namespace std::chrono_literals;

struct Records final : record::RecordSink {
  void append(record::Record record) override { all.push_back(std::move(record)); }
  std::vector<record::Record> all;
};

/// Admits like an agent and answers when the test says so.
struct SlowHandler final : transport::link::MessageHandler {
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    slots.push_back(std::move(reply));
    if (!tool.empty()) {
      message.notes->message_type = tool;
      return;
    }
    message.notes->message_type = "GAME_INVITATION";
    message.notes->conversation_id = "convr1m1001";
    message.notes->match_id = "R1M1";
    message.notes->peer = "referee:REF01";
    message.notes->leniencies = {"params_message"};
  }
  std::string tool;  ///< that is called; empty: a league message comes
  std::vector<transport::link::ReplySlot> slots;
};

struct AuditedHandlerTest : ::testing::Test {
  testing::FakeTime time;
  Records log;
  SlowHandler handler;
  AuditedHandler audited{handler, log, time};
  std::vector<transport::link::OutboundReply> sent;

  void receive(std::string bytes) {
    transport::link::Inbound message;
    message.bytes = std::move(bytes);
    message.context = rpc::MessageContext::now(
        time, rpc::MessageDirection::kClientToServer,
        rpc::TransportContext::http(std::make_shared<rpc::HeaderMap>(), "POST",
                                    rpc::SharedText::literal("/mcp")));
    message.context.session = rpc::SessionId("s-1");
    audited.on_message(std::move(message),
                       transport::link::ReplySlot([this](transport::link::OutboundReply reply) {
                         sent.push_back(std::move(reply));
                       }));
  }
};

TEST_F(AuditedHandlerTest, WritesBothRecordsWhenTheAnswerIsSent) {
  receive("ask");
  EXPECT_TRUE(log.all.empty());
  time.advance(5ms);
  transport::link::OutboundReply reply;
  reply.bytes = "answer";
  reply.notes->message_type = "GAME_JOIN_ACK";
  bool after = false;
  reply.after_sent = [&] { after = true; };
  handler.slots[0].send(std::move(reply));
  ASSERT_EQ(log.all.size(), 2U);
  const record::Record& in = log.all[0];
  EXPECT_EQ(in.direction, record::Direction::kIn);
  EXPECT_EQ(in.kind, record::Kind::kRequest);
  EXPECT_EQ(in.body, "ask");
  EXPECT_EQ(in.context.type, rpc::TransportType::kHttp);
  ASSERT_NE(in.context.as_http(), nullptr);
  EXPECT_EQ(in.context.as_http()->uri.view(), "/mcp");
  EXPECT_EQ(in.context.as_http()->headers, nullptr) << "headers hold credentials";
  EXPECT_EQ(in.session, rpc::SessionId("s-1"));
  EXPECT_EQ(in.notes.message_type, "GAME_INVITATION");
  EXPECT_EQ(in.notes.leniencies.size(), 1U);
  EXPECT_EQ(in.elapsed, 5ms);
  const record::Record& out = log.all[1];
  EXPECT_EQ(out.direction, record::Direction::kOut);
  EXPECT_EQ(out.kind, record::Kind::kReply);
  EXPECT_EQ(out.session, in.session);
  EXPECT_EQ(out.context.as_http()->uri.view(), "/mcp");
  EXPECT_EQ(out.body, "answer");
  EXPECT_EQ(out.http_status, 200);
  EXPECT_EQ(out.notes.message_type, "GAME_JOIN_ACK");
  EXPECT_EQ(out.notes.conversation_id, "convr1m1001");
  EXPECT_EQ(out.notes.match_id, "R1M1");
  EXPECT_EQ(out.notes.peer, "referee:REF01");
  EXPECT_EQ(out.mono - in.mono, 5ms);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].bytes, "answer");
  sent[0].after_sent();
  EXPECT_TRUE(after);
}

TEST_F(AuditedHandlerTest, RequestAndAnswerHaveTheSameCallWhateverTheAnswerSays) {
  receive("first");
  receive("second");
  transport::link::OutboundReply reply;
  reply.notes->conversation_id = "another";
  handler.slots[1].send(std::move(reply));
  handler.slots[0].send({});
  ASSERT_EQ(log.all.size(), 4U);
  EXPECT_EQ(log.all[0].call, 2U) << "the second answer came first";
  EXPECT_EQ(log.all[1].call, 2U);
  EXPECT_EQ(log.all[1].notes.conversation_id, "another");
  EXPECT_EQ(log.all[2].call, 1U);
  EXPECT_EQ(log.all[3].call, 1U);
}

TEST_F(AuditedHandlerTest, WhoeverWatchesALeagueFillsNoLog) {
  handler.tool = "get_league_status";
  receive(R"({"jsonrpc":"2.0","id":1,"method":"get_league_status","params":{}})");
  handler.tool = "get_standings";
  receive(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_standings"}})");
  handler.tool = "get_agents";
  receive(R"({"jsonrpc":"2.0","id":3,"method":"get_agents"})");
  for (auto& slot : handler.slots) slot.send({});
  EXPECT_TRUE(log.all.empty());
  EXPECT_EQ(sent.size(), 3U);
}

TEST_F(AuditedHandlerTest, WhatIsRefusedOrIsMoreThanAReadIsWrittenDown) {
  constexpr const char* kRead = R"({"jsonrpc":"2.0","id":1,"method":"get_standings"})";
  receive(kRead);  // handled as a league message
  handler.tool = "get_standings";
  receive(kRead);
  receive(kRead);
  receive(R"({"jsonrpc":"2.0","id":1,"method":"start_league"})");
  receive(R"({"jsonrpc":"2.0","id":1,"method":"get_next_match"})");
  receive(R"({"method":"tools/call","params":{"name":"start_league","x":"get_standings"}})");
  receive(R"({"method":"tools/call","params":["get_standings"]})");
  receive(R"([{"method":"get_standings"}])");
  receive("get_standings");
  receive(R"({"method":"get_standings","x":")" + std::string(4096, 'x') + "\"}");
  transport::link::OutboundReply refused;
  refused.notes->verdict = core::ErrorCode::kInvalidFieldValue;
  handler.slots[1].send(std::move(refused));
  transport::link::OutboundReply forbidden;
  forbidden.http_status = 403;
  handler.slots[2].send(std::move(forbidden));
  for (auto& slot : handler.slots) slot.send({});
  EXPECT_EQ(log.all.size(), 2 * handler.slots.size());
}

TEST_F(AuditedHandlerTest, WritesAForgottenAnswerOnce) {
  receive("ask");
  handler.slots.clear();
  ASSERT_EQ(log.all.size(), 2U);
  EXPECT_EQ(log.all[1].http_status, 500);
  EXPECT_EQ(log.all[1].notes.verdict, core::ErrorCode::kInternalError);
  EXPECT_EQ(sent.size(), 1U);
}

TEST_F(AuditedHandlerTest, ASecondAnswerWritesNothing) {
  receive("ask");
  handler.slots[0].send({});
  handler.slots[0].send({});
  handler.slots.clear();
  EXPECT_EQ(log.all.size(), 2U);
  EXPECT_EQ(sent.size(), 1U);
}

struct FakeCaller final : transport::link::Caller {
  void call(transport::link::OutboundCall call, Completion completion) override {
    calls.push_back(std::move(call));
    completions.push_back(std::move(completion));
  }
  std::vector<transport::link::OutboundCall> calls;
  std::vector<Completion> completions;
};

struct AuditedCallerTest : ::testing::Test {
  testing::FakeTime time;
  Records log;
  FakeCaller caller;
  AuditedCaller audited{caller, log, time};

  transport::link::OutboundCall call(
      transport::link::Budget budget = transport::link::Budget::kGame) {
    transport::link::OutboundCall request;
    request.endpoint = {
        .scheme = "http", .host = "localhost", .port = 8101, .path = "/mcp", .pinned_address = ""};
    request.bytes = "question";
    request.budget = budget;
    request.notes->message_type = "CHOOSE_PARITY_CALL";
    request.notes->conversation_id = "convr1m1001";
    request.notes->match_id = "R1M1";
    request.notes->peer = "player:P01";
    return request;
  }
};

TEST_F(AuditedCallerTest, WritesTheRequestAtOnceAndTheAnswerAfterTheCompletion) {
  auto request = call();
  auto bytes = request.bytes;
  audited.call(std::move(request), [&](transport::link::CallOutcome outcome) {
    EXPECT_EQ(outcome.bytes, "reply");
    EXPECT_EQ(log.all.size(), 1U);
    outcome.notes->message_type = "CHOOSE_PARITY_RESPONSE";
    outcome.notes->verdict = core::ErrorCode::kInvalidParityChoice;
    outcome.notes->fault = "send even or odd";
  });
  ASSERT_EQ(log.all.size(), 1U);
  EXPECT_EQ(log.all[0].body, bytes);  // shared, not copied
  EXPECT_EQ(rpc::to_string(log.all[0].context.type), "http");
  EXPECT_FALSE(log.all[0].broadcast);
  EXPECT_EQ(log.all[0].context.as_http()->uri.view(), "/mcp");
  EXPECT_EQ(log.all[0].context.connection->remote_address, "localhost:8101");
  time.advance(3ms);
  transport::link::CallOutcome outcome;
  outcome.bytes = "reply";
  outcome.http_status = 200;
  caller.completions[0](std::move(outcome));
  ASSERT_EQ(log.all.size(), 2U);
  const record::Record& answer = log.all[1];
  EXPECT_EQ(answer.direction, record::Direction::kIn);
  EXPECT_EQ(answer.kind, record::Kind::kReply);
  EXPECT_EQ(answer.body, "reply");
  EXPECT_EQ(answer.elapsed, 3ms);
  EXPECT_EQ(answer.notes.message_type, "CHOOSE_PARITY_RESPONSE");
  EXPECT_EQ(answer.notes.verdict, core::ErrorCode::kInvalidParityChoice);
  EXPECT_EQ(answer.notes.conversation_id, "convr1m1001");
  EXPECT_EQ(answer.notes.peer, "player:P01");
}

TEST_F(AuditedCallerTest, ACompletionWritesTheAnswerBeforeItActsOnIt) {
  audited.call(call(), [&](const transport::link::CallOutcome& outcome) {
    outcome.notes->message_type = "CHOOSE_PARITY_RESPONSE";
    outcome.record();
    ASSERT_EQ(log.all.size(), 2U);
    audited.call(call(), nullptr);
    outcome.record();
  });
  transport::link::CallOutcome outcome;
  outcome.bytes = "reply";
  caller.completions[0](std::move(outcome));
  ASSERT_EQ(log.all.size(), 3U);
  EXPECT_EQ(log.all[1].notes.message_type, "CHOOSE_PARITY_RESPONSE");
  EXPECT_EQ(log.all[1].kind, record::Kind::kReply);
  EXPECT_EQ(log.all[2].kind, record::Kind::kRequest);
}

TEST_F(AuditedCallerTest, TheAnswerSaysHowItCame) {
  const std::vector<std::pair<std::string, std::string>> kBySchemes = {
      {"http", "http"}, {"https", "http"}, {"ws", "websocket"},    {"wss", "websocket"},
      {"tcp", "tcp"},   {"unix", "unix"},  {"stdio", "subprocess"}};
  for (const auto& [scheme, transport] : kBySchemes) {
    log.all.clear();
    auto request = call();
    request.endpoint.scheme = scheme;
    audited.call(std::move(request), [](transport::link::CallOutcome) {});
    EXPECT_EQ(rpc::to_string(log.all.at(0).context.type), transport);
    transport::link::CallOutcome outcome;
    rpc::SseMetadata event;
    event.event_id = "7";
    outcome.context.transport = rpc::TransportContext::sse(event);
    caller.completions.back()(std::move(outcome));
    EXPECT_EQ(rpc::to_string(log.all.at(1).context.type), "sse");
    EXPECT_EQ(log.all.at(1).context.type, rpc::TransportType::kSse);
  }
}

TEST_F(AuditedCallerTest, WhatACallerFramesAnewIsLoggedAsItWasSent) {
  AuditedCaller sessions(caller, log, time, AuditedCaller::Framing::kByTheCaller);
  sessions.call(call(),
                [](transport::link::CallOutcome outcome) { EXPECT_EQ(outcome.bytes, "reply"); });
  EXPECT_TRUE(log.all.empty()) << "nobody knows yet what will be sent";
  time.advance(4ms);
  transport::link::CallOutcome outcome;
  outcome.bytes = "reply";
  outcome.sent_at = time.steady_now();
  outcome.wire_request = std::make_shared<const std::string>("framed request");
  outcome.wire_answer = std::make_shared<const std::string>("framed reply");
  time.advance(3ms);
  auto sent = *outcome.sent_at;
  caller.completions[0](std::move(outcome));
  ASSERT_EQ(log.all.size(), 2U);
  EXPECT_EQ(log.all[0].body, "framed request");
  EXPECT_EQ(log.all[0].mono, sent);
  EXPECT_EQ(log.all[1].body, "framed reply");
  EXPECT_EQ(log.all[1].elapsed, 3ms);
}

TEST_F(AuditedCallerTest, AnAnswerHasTheCallOfItsRequest) {
  AuditedCaller sessions(caller, log, time, AuditedCaller::Framing::kByTheCaller);
  audited.call(call(), nullptr);
  sessions.call(call(), nullptr);
  audited.call(call(transport::link::Budget::kBroadcast), nullptr);
  transport::link::CallOutcome outcome;
  outcome.notes->conversation_id = "another";
  caller.completions[2](outcome);
  outcome.error = core::Error{core::ErrorCode::kTimeout, "late", {}};
  caller.completions[1](outcome);
  caller.completions[0](std::move(outcome));
  std::vector<std::uint64_t> calls;
  for (const auto& record : log.all) calls.push_back(record.call);
  EXPECT_EQ(calls, (std::vector<std::uint64_t>{1, 3, 3, 2, 2, 1}));
  EXPECT_EQ(log.all[2].notes.conversation_id, "another");
}

TEST_F(AuditedCallerTest, AFailureIsARecordToo) {
  audited.call(call(), [](transport::link::CallOutcome) {});
  time.advance(2s);
  transport::link::CallOutcome outcome;
  outcome.error = core::Error{core::ErrorCode::kTimeout, "no answer within 2 s", {}};
  caller.completions[0](std::move(outcome));
  const record::Record& failure = log.all.at(1);
  EXPECT_EQ(failure.kind, record::Kind::kFailure);
  EXPECT_EQ(failure.notes.verdict, core::ErrorCode::kTimeout);
  EXPECT_EQ(failure.notes.fault, "no answer within 2 s");
  EXPECT_EQ(failure.elapsed, 2s);
  EXPECT_EQ(failure.notes.match_id, "R1M1");
  EXPECT_TRUE(failure.body.empty());
}

TEST_F(AuditedCallerTest, MarksBroadcastsAndNamesAnUnknownPeerByItsAddress) {
  auto request = call(transport::link::Budget::kBroadcast);
  request.notes->peer.clear();
  audited.call(std::move(request), nullptr);
  EXPECT_TRUE(log.all.at(0).broadcast);
  EXPECT_EQ(log.all[0].notes.peer, "localhost:8101");
}

}  // namespace
}  // namespace league::audit::calls
