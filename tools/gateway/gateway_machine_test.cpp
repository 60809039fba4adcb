#include "tools/gateway/gateway_machine.h"

#include <gtest/gtest.h>

namespace league::tools::gateway {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using State = GatewayState;

rpc::Request tool_request() {
  return rpc::make_request(rpc::Id(std::string("client-7")), "tools/call", {{"name", "echo"}});
}

json sent(const GatewayMachine::Actions& actions, std::size_t at = 0) {
  const auto* send =
      at < actions.size() ? std::get_if<GatewayMachine::Send>(&actions[at]) : nullptr;
  return send != nullptr ? json::parse(send->bytes) : json("nothing was sent");
}

const rpc::Response* answered(const GatewayMachine::Actions& actions) {
  for (const auto& action : actions) {
    if (const auto* answer = std::get_if<GatewayMachine::Answer>(&action)) return &answer->response;
  }
  return nullptr;
}

std::string result_for(const json& request, const json& result) {
  return json{{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}}.dump();
}

/// A machine on its way, and what it sent last.
struct Walk {
  explicit Walk(State goal) {
    if (goal == State::kWaitEndpoint) return;
    last = sent(machine.on_endpoint());
    if (goal == State::kInitializing) return;
    last = sent(machine.on_message(result_for(last, {{"protocolVersion", "2024-11-05"}})));
    if (goal == State::kInitialized) return;
    last = sent(machine.on_received());
    if (goal == State::kWaitResponse) return;
    (void)machine.on_message(result_for(last, json::object()));
  }
  GatewayMachine machine{tool_request()};
  json last;
};

TEST(GatewayMachine, EndpointInitializeNotificationRequestAnswer) {
  GatewayMachine machine(tool_request());
  EXPECT_EQ(machine.state(), State::kWaitEndpoint);
  auto initialize = sent(machine.on_endpoint());
  EXPECT_EQ(machine.state(), State::kInitializing);
  EXPECT_EQ(initialize["method"], "initialize");
  EXPECT_TRUE(initialize["params"]["capabilities"].is_object());
  auto actions = machine.on_message(result_for(initialize, {{"protocolVersion", "2025-06-18"}}));
  EXPECT_EQ(machine.state(), State::kInitialized);
  EXPECT_EQ(sent(actions)["method"], "notifications/initialized");
  EXPECT_FALSE(sent(actions).contains("id"));
  EXPECT_TRUE(std::get<GatewayMachine::Send>(actions[0]).awaits_receipt);
  auto request = sent(machine.on_received());
  EXPECT_EQ(machine.state(), State::kWaitResponse);
  EXPECT_EQ(request["method"], "tools/call");
  EXPECT_EQ(request["params"], (json{{"name", "echo"}}));
  EXPECT_NE(request["id"], "client-7");
  actions = machine.on_message(result_for(request, {{"content", json::array()}}));
  EXPECT_EQ(machine.state(), State::kDone);
  ASSERT_NE(answered(actions), nullptr);
  EXPECT_EQ(answered(actions)->id, rpc::Id(std::string("client-7")));
  EXPECT_TRUE(answered(actions)->result.contains("content"));
}

TEST(GatewayMachine, TheServersErrorIsTheAnswer) {
  Walk walk(State::kWaitResponse);
  auto actions = walk.machine.on_message(json{{"jsonrpc", "2.0"},
                                              {"id", walk.last["id"]},
                                              {"error", {{"code", -32602}, {"message", "no tool"}}}}
                                             .dump());
  ASSERT_NE(answered(actions), nullptr);
  EXPECT_EQ(answered(actions)->error->code, -32602);
  EXPECT_EQ(walk.machine.state(), State::kDone);
}

TEST(GatewayMachine, EveryFaultInEveryStateIsAnsweredOnce) {
  const Error why{ErrorCode::kConnectionError, "the wire broke", ""};
  using Fault = std::function<GatewayMachine::Actions(GatewayMachine&)>;
  const std::vector<std::pair<const char*, Fault>> faults{
      {"refused", [&](GatewayMachine& m) { return m.on_refused(why, 401); }},
      {"send failed", [&](GatewayMachine& m) { return m.on_refused(why, 404); }},
      {"closed", [&](GatewayMachine& m) { return m.on_closed(why); }},
      {"timeout", [](GatewayMachine& m) { return m.on_timeout(); }},
      {"no JSON", [](GatewayMachine& m) { return m.on_message("<html>"); }},
  };
  for (const auto& [name, fault] : faults) {
    for (State state :
         {State::kWaitEndpoint, State::kInitializing, State::kInitialized, State::kWaitResponse}) {
      Walk walk(state);
      ASSERT_EQ(walk.machine.state(), state);
      auto actions = fault(walk.machine);
      ASSERT_NE(answered(actions), nullptr) << name;
      EXPECT_EQ(answered(actions)->id, rpc::Id(std::string("client-7")));
      EXPECT_EQ(answered(actions)->error->code, -32603);
      EXPECT_EQ(answered(actions)->error->data["phase"], gateway_state_name(state)) << name;
      EXPECT_EQ(walk.machine.state(), State::kFailed);
      for (const auto& [again, other] : faults)
        EXPECT_TRUE(other(walk.machine).empty()) << name << ", then " << again;
      EXPECT_TRUE(walk.machine.on_endpoint().empty());
      EXPECT_TRUE(walk.machine.on_received().empty());
    }
  }
}

TEST(GatewayMachine, SaysTheStatusOfARefusal) {
  GatewayMachine machine(tool_request());
  auto actions =
      machine.on_refused({ErrorCode::kInvalidReply, "GET was refused with status 401", ""}, 401);
  EXPECT_EQ(answered(actions)->error->data["http_status"], 401);
  EXPECT_NE(answered(actions)->error->message.find("401"), std::string::npos);
}

TEST(GatewayMachine, AHandshakeThatIsRefusedEndsIt) {
  for (const json& answer : {json{{"error", {{"code", -32000}, {"message", "not you"}}}},
                             json{{"result", {{"protocolVersion", "1999-01-01"}}}},
                             json{{"result", json::object()}}, json{{"result", "text"}}}) {
    Walk walk(State::kInitializing);
    json reply = {{"jsonrpc", "2.0"}, {"id", walk.last["id"]}};
    reply.update(answer);
    ASSERT_NE(answered(walk.machine.on_message(reply.dump())), nullptr) << answer;
    EXPECT_EQ(walk.machine.state(), State::kFailed);
  }
}

TEST(GatewayMachine, WhatIsNotAwaitedIsPassedOver) {
  for (State state :
       {State::kWaitEndpoint, State::kInitializing, State::kInitialized, State::kWaitResponse}) {
    Walk walk(state);
    for (const char* text :
         {R"({"jsonrpc":"2.0","id":99,"result":{}})", R"({"jsonrpc":"2.0","id":"1","result":{}})",
          R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}})", R"([])", R"(7)",
          R"({})"})
      EXPECT_TRUE(walk.machine.on_message(text).empty()) << text;
    EXPECT_EQ(walk.machine.state(), state);
  }
  Walk early(State::kInitialized);
  EXPECT_TRUE(early.machine.on_message(R"({"jsonrpc":"2.0","id":2,"result":{}})").empty())
      << "before it was asked";
  Walk done(State::kDone);
  EXPECT_EQ(done.machine.state(), State::kDone);
  EXPECT_TRUE(done.machine.on_timeout().empty());
}

TEST(GatewayMachine, ATimeoutSaysWhatCameInPlaceOfTheAnswer) {
  for (const auto& [text, said] :
       {std::pair(R"({"jsonrpc":"2.0","id":"2","result":{}})", "an answer with the id \"2\""),
        std::pair(R"({"jsonrpc":"2.0","id":99,"result":{}})", "an answer with the id 99"),
        std::pair(R"({"jsonrpc":"2.0","id":2})", "a message without method and result")}) {
    Walk walk(State::kWaitResponse);
    EXPECT_TRUE(walk.machine.on_message(text).empty());
    auto actions = walk.machine.on_timeout();
    EXPECT_NE(answered(actions)->error->message.find(said), std::string::npos)
        << answered(actions)->error->message;
  }
}

TEST(GatewayMachine, TheServerIsToldThatNobodyWaits) {
  Walk walk(State::kWaitResponse);
  auto told = sent(walk.machine.on_cancel());
  EXPECT_EQ(told["method"], "notifications/cancelled");
  EXPECT_EQ(told["params"]["requestId"], walk.last["id"]);
  EXPECT_TRUE(Walk(State::kInitializing).machine.on_cancel().empty());
}

TEST(GatewayMachine, OnlyTheFirstReceiptCounts) {
  Walk walk(State::kWaitResponse);
  EXPECT_TRUE(walk.machine.on_received().empty());
  Walk before(State::kInitializing);
  EXPECT_TRUE(before.machine.on_received().empty());
  EXPECT_TRUE(before.machine.on_endpoint().empty());
}

TEST(GatewayMachine, AnswersPingsRefusesRequestsAndForwardsNews) {
  Walk walk(State::kWaitResponse);
  auto pong = sent(walk.machine.on_message(R"({"jsonrpc":"2.0","id":"k","method":"ping"})"));
  EXPECT_EQ(pong, (json{{"jsonrpc", "2.0"}, {"id", "k"}, {"result", json::object()}}));
  EXPECT_EQ(sent(walk.machine.on_message(
                R"({"jsonrpc":"2.0","id":5,"method":"roots/list"})"))["error"]["code"],
            -32601);
  auto actions = walk.machine.on_message(
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})");
  ASSERT_EQ(actions.size(), 1U);
  EXPECT_EQ(json::parse(std::get<GatewayMachine::Forward>(actions[0]).bytes)["params"]["progress"],
            1);
  Walk before(State::kInitializing);
  EXPECT_TRUE(
      before.machine.on_message(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})")
          .empty());
}

}  // namespace
}  // namespace league::tools::gateway
