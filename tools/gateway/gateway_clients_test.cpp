#include <gtest/gtest.h>

#include "tools/gateway/gateway_testing.h"

namespace league::tools::gateway {
namespace {

using nlohmann::json;
using testing::GatewayTest;
using testing::modern;
using testing::modern_headers;
using testing::NamedChannel;

class GatewayClientsTest : public GatewayTest {};

rpc::HeaderMap session_header(const std::string& id) { return {{"Mcp-Session-Id", id}}; }

TEST_F(GatewayClientsTest, QuestionsGoToTheClientWhoseCallTheyBelongTo) {
  options_.has_sessions = true;
  const std::string mine =
      ask("initialize", {{"capabilities", {{"sampling", json::object()}}}})->headers.at(0).second;
  const std::string other = ask("initialize")->headers.at(0).second;
  EXPECT_EQ(backend_.clients.at(0).capabilities, (json{{"sampling", json::object()}}));
  auto channel = std::make_shared<NamedChannel>("c1");
  auto others = std::make_shared<NamedChannel>("c2");
  (void)ask("tools/call", {{"name", "a"}}, session_header(mine), channel);
  (void)ask("tools/call", {{"name", "b"}}, session_header(other), others);
  std::vector<rpc::Response> answers;
  auto take = [&](rpc::Response response) { answers.push_back(std::move(response)); };
  backend_.calls.at(0).on_request(
      rpc::make_request(rpc::Id(7), "sampling/createMessage", {{"maxTokens", 1}}), take);
  ASSERT_EQ(channel->pushed.size(), 1U);
  EXPECT_TRUE(others->pushed.empty());
  const json question = channel->pushed[0];
  EXPECT_EQ(question["method"], "sampling/createMessage");
  EXPECT_EQ(question["params"]["maxTokens"], 1);
  const std::string answer =
      json{{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", {{"model", "m"}}}}.dump();
  (void)send(answer, session_header(other));
  (void)send(answer);
  EXPECT_TRUE(answers.empty()) << "only the one that was asked may answer";
  EXPECT_EQ(send(answer, session_header(mine))->status, 202);
  (void)send(answer, session_header(mine));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].result["model"], "m");
}

TEST_F(GatewayClientsTest, AClientThatTakesNoEventsIsAskedWhereItListens) {
  options_.has_sessions = true;
  const std::string mine = ask("initialize")->headers.at(0).second;
  auto deaf = std::make_shared<NamedChannel>("c1");
  deaf->is_deaf = true;
  (void)ask("tools/call", {{"name", "a"}}, session_header(mine), deaf);
  std::vector<rpc::Response> answers;
  auto take = [&](rpc::Response response) { answers.push_back(std::move(response)); };
  const auto question = rpc::make_request(rpc::Id(7), "roots/list");
  backend_.calls.at(0).on_request(question, take);
  ASSERT_EQ(answers.size(), 1U) << "it listens nowhere";
  EXPECT_TRUE(answers[0].error);
  transport::link::StreamRequest request;
  request.context.transport =
      rpc::TransportContext::http(std::make_shared<const rpc::HeaderMap>(session_header(mine)),
                                  "GET", rpc::SharedText::literal("/mcp"));
  auto accepted = gateway().on_stream(std::move(request));
  auto stream = std::make_shared<NamedChannel>("s1");
  std::get<transport::link::StreamAcceptance>(accepted).opened(stream);
  backend_.calls.at(0).on_request(question, take);
  ASSERT_EQ(stream->pushed.size(), 1U);
  EXPECT_EQ(answers.size(), 1U);
  (void)gateway().on_session_end([&] {
    rpc::MessageContext context;
    context.transport =
        rpc::TransportContext::http(std::make_shared<const rpc::HeaderMap>(session_header(mine)),
                                    "DELETE", rpc::SharedText::literal("/mcp"));
    return context;
  }());
  ASSERT_EQ(answers.size(), 2U) << "the client has gone";
  EXPECT_EQ(backend_.ended, std::vector<std::string>{mine});
}

TEST_F(GatewayClientsTest, ClientsThatFindNoRoomAreToldSo) {
  options_.has_sessions = true;
  backend_.is_full = true;
  auto refused = ask("initialize");
  EXPECT_EQ(refused->body["error"]["code"], -32603);
  EXPECT_TRUE(refused->headers.empty());
  backend_.is_full = false;
  const std::string mine = ask("initialize")->headers.at(0).second;
  backend_.clients.at(0).on_forgotten();
  EXPECT_EQ(ask("ping", json::object(), session_header(mine))->status, 404) << "it begins again";
}

TEST_F(GatewayClientsTest, WhatAClientTellsGoesToItsOwnSession) {
  options_.has_sessions = true;
  const std::string mine = ask("initialize")->headers.at(0).second;
  const char* changed = R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})";
  (void)send(changed, session_header(mine));
  (void)send(changed);
  EXPECT_EQ(backend_.notes, (std::vector<std::pair<std::string, std::string>>{
                                {mine, "notifications/roots/list_changed"}}));
}

TEST_F(GatewayClientsTest, SubscriptionsLastUntilTheirStreamIsClosed) {
  backend_.listens = true;
  options_.most_listeners = 1;
  const json wanted = modern({{"notifications", {{"toolsListChanged", true}}}});
  auto headers = modern_headers("subscriptions/listen");
  auto channel = std::make_shared<NamedChannel>("c1");
  EXPECT_EQ(ask("subscriptions/listen", wanted, headers, channel)->status, 406);
  headers.emplace("accept", "application/json, text/event-stream");
  EXPECT_EQ(ask("subscriptions/listen", wanted, headers)->status, 406) << "no way to the client";
  auto listening = ask("subscriptions/listen", wanted, headers, channel);
  EXPECT_FALSE(listening->came);
  EXPECT_EQ(ask("subscriptions/listen", wanted, headers, std::make_shared<NamedChannel>("c2"))
                ->body["error"]["code"],
            -32603)
      << "there are enough";
  gateway().on_channel_closed(*channel);
  EXPECT_EQ(backend_.cancelled, 1);
  auto again = ask("subscriptions/listen", wanted, headers, std::make_shared<NamedChannel>("c3"));
  EXPECT_FALSE(again->came);
  backend_.answers.back()(rpc::make_result(rpc::Id(1), json::object()));
  EXPECT_TRUE(again->came) << "the backend has nothing more to say";
}

}  // namespace
}  // namespace league::tools::gateway
