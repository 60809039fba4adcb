#include "tools/gateway/gateway.h"

#include <gtest/gtest.h>

#include "tools/gateway/gateway_testing.h"

namespace league::tools::gateway {
namespace {

using nlohmann::json;
using testing::GatewayTest;
using testing::modern;
using testing::modern_headers;
using testing::NamedChannel;

TEST_F(GatewayTest, OnlyToolsOpenTheBackend) {
  for (const char* method : {"ping", "initialize", "prompts/list", "server/discover", "unheard_of"})
    (void)ask(method);
  (void)send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_TRUE(backend_.calls.empty());
  (void)ask("tools/list");
  (void)ask("tools/call", {{"name", "x"}});
  (void)ask("resources/list");
  EXPECT_EQ(backend_.calls.size(), 3U);
}

TEST_F(GatewayTest, AnswersTheRestItself) {
  EXPECT_EQ(ask("ping")->body["result"], json::object());
  EXPECT_EQ(ask("prompts/list")->body["error"]["code"], -32601);
  EXPECT_EQ(ask("prompts/list")->status, 200);
  auto accepted = send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(accepted->status, 202);
  EXPECT_TRUE(accepted->body.is_null());
  EXPECT_EQ(send(R"({"jsonrpc":"2.0","id":5,"result":{}})")->status, 202);
  auto initialized = ask("initialize", {{"protocolVersion", "2025-03-26"}});
  EXPECT_EQ(initialized->body["result"]["protocolVersion"], "2025-03-26");
  EXPECT_EQ(initialized->body["result"]["serverInfo"]["name"], "b");
  EXPECT_TRUE(initialized->headers.empty()) << "no sessions";
  EXPECT_EQ(
      ask("initialize", {{"protocolVersion", "2099-01-01"}})->body["result"]["protocolVersion"],
      "2025-11-25");
}

TEST_F(GatewayTest, RefusesWhatIsNoRequest) {
  EXPECT_EQ(send("{")->body["error"]["code"], -32700);
  EXPECT_EQ(send("{")->status, 400);
  for (const char* bytes : {"7", R"({"jsonrpc":"1.0","id":1,"method":"x"})", R"([])",
                            R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])",
                            R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
                            R"({"jsonrpc":"2.0","id":1,"method":"x","params":7})"}) {
    EXPECT_EQ(send(bytes)->body["error"]["code"], -32600) << bytes;
    EXPECT_EQ(send(bytes)->status, 400) << bytes;
  }
}

TEST_F(GatewayTest, StatelessClientsAreServed) {
  auto found = ask("server/discover", modern(), modern_headers("server/discover"))->body["result"];
  EXPECT_EQ(found["supportedVersions"], json::array({"2026-07-28"}));
  EXPECT_EQ(found["resultType"], "complete");
  EXPECT_EQ(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "b");
  backend_.immediate = json{{"tools", json::array()}};
  auto listed = ask("tools/list", modern(), modern_headers("tools/list"))->body["result"];
  EXPECT_EQ(listed["resultType"], "complete");
  EXPECT_EQ(listed["ttlMs"], 0);
  EXPECT_EQ(listed["cacheScope"], "private");
  EXPECT_TRUE(listed["_meta"].contains("io.modelcontextprotocol/serverInfo"));
  EXPECT_TRUE(backend_.calls.at(0).is_modern);
  backend_.immediate = json{{"content", json::array()}};
  EXPECT_FALSE(ask("tools/call", modern({{"name", "x"}}), modern_headers("tools/call", "x"))
                   ->body["result"]
                   .contains("ttlMs"));
  (void)ask("tools/call", {{"name", "x"}});
  EXPECT_FALSE(backend_.calls.at(2).is_modern);
}

TEST_F(GatewayTest, StatelessClientsSayWhatTheRevisionWants) {
  auto expect = [&](const std::shared_ptr<Reply>& reply, int status, int code) {
    EXPECT_EQ(reply->status, status);
    EXPECT_EQ(reply->body["error"]["code"], code);
    EXPECT_EQ(reply->body["id"], 1);
  };
  expect(ask("tools/list", modern({}, "2027-01-01"),
             modern_headers("tools/list", nullptr, "2027-01-01")),
         400, -32022);
  expect(ask("tools/list", json::object(), modern_headers("tools/list")), 400, -32602);
  expect(ask("tools/list", modern()), 400, -32020);
  expect(ask("tools/call", modern({{"name", "x"}}), modern_headers("tools/call", "y")), 400,
         -32020);
  for (const char* removed : {"initialize", "ping", "resources/subscribe", "logging/setLevel",
                              "subscriptions/listen", "unheard_of", "prompts/list"})
    expect(ask(removed, modern(), modern_headers(removed)), 404, -32601);
  EXPECT_EQ(ask("ping", json::object(), {{"mcp-protocol-version", "2025-06-18"}})->status, 200);
  EXPECT_EQ(ask("ping", json::object(), {{"mcp-protocol-version", "1999-01-01"}})->status, 400);
  EXPECT_TRUE(backend_.calls.empty());
}

TEST_F(GatewayTest, ToolsThatAreNotAllowedAreNotThere) {
  options_.allowed_tools = std::set<std::string>{"echo"};
  auto refused = ask("tools/call", {{"name", "rm"}});
  EXPECT_EQ(refused->body["error"]["code"], -32602);
  EXPECT_NE(refused->body["error"]["message"].get<std::string>().find("rm"), std::string::npos);
  EXPECT_EQ(ask("tools/call", {{"name", 7}})->body["error"]["code"], -32602);
  EXPECT_EQ(ask("tools/call", json::array())->body["error"]["code"], -32602);
  EXPECT_TRUE(backend_.calls.empty());
  backend_.immediate = {{"tools", {{{"name", "rm"}}, {{"name", "echo"}}, {{"title", "nameless"}}}},
                        {"nextCursor", "p2"}};
  auto listed = ask("tools/list")->body["result"];
  EXPECT_EQ(listed["tools"], (json{{{"name", "echo"}}}));
  EXPECT_EQ(listed["nextCursor"], "p2") << "the next page is filtered when it is asked for";
}

TEST_F(GatewayTest, AClientThatHasGoneEndsItsCall) {
  auto channel = std::make_shared<NamedChannel>("c1");
  auto other = std::make_shared<NamedChannel>("c2");
  (void)ask("tools/call", {{"name", "a"}}, {}, channel);
  auto waiting = ask("tools/call", {{"name", "b"}}, {}, other);
  EXPECT_EQ(gateway().in_work(), 2U);
  gateway().on_channel_closed(*channel);
  EXPECT_EQ(backend_.cancelled, 1);
  EXPECT_EQ(gateway().in_work(), 1U);
  backend_.answers[0](rpc::make_result(rpc::Id(1), json::object()));  // too late, harmless
  backend_.answers[1](rpc::make_result(rpc::Id(1), {{"b", 1}}));
  EXPECT_EQ(waiting->body["result"]["b"], 1);
  EXPECT_EQ(gateway().in_work(), 0U);
}

TEST_F(GatewayTest, AClientMayCancelWhatItHasAsked) {
  options_.has_sessions = true;
  const std::string cancel =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})";
  const rpc::HeaderMap mine{{"Mcp-Session-Id", ask("initialize")->headers.at(0).second}};
  const rpc::HeaderMap other{{"Mcp-Session-Id", ask("initialize")->headers.at(0).second}};
  auto reply = ask("tools/call", {{"name", "a"}}, mine);
  (void)send(cancel, other);
  (void)send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})",
             mine);
  EXPECT_EQ(backend_.cancelled, 0);
  (void)send(cancel, mine);
  EXPECT_EQ(backend_.cancelled, 1);
  EXPECT_EQ(reply->body["error"]["code"], -32603);
}

TEST_F(GatewayTest, NobodyCancelsWithoutASession) {
  (void)ask("tools/call", {{"name", "a"}});
  (void)send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(backend_.cancelled, 0) << "another client's request may have the same id";
}

TEST_F(GatewayTest, ConversationsOfLeagueMessagesAreKept) {
  (void)ask("tools/call",
            {{"name", "choose_parity"}, {"arguments", {{"conversation_id", "convr1m1"}}}});
  (void)ask("tools/call", {{"name", "echo"}});
  EXPECT_EQ(backend_.calls[0].correlation_id, "convr1m1");
  EXPECT_EQ(backend_.calls[1].correlation_id, "gateway-2");
}

TEST_F(GatewayTest, SessionsHaveStreamsOfTheirOwn) {
  options_.has_sessions = true;
  auto opened = ask("initialize");
  ASSERT_EQ(opened->headers.size(), 1U);
  EXPECT_EQ(opened->headers[0].first, "Mcp-Session-Id");
  const std::string id = opened->headers[0].second;
  EXPECT_EQ(ask("ping", json::object(), {{"Mcp-Session-Id", "unknown"}})->status, 404);
  EXPECT_EQ(ask("ping", json::object(), {{"Mcp-Session-Id", id}})->status, 200);
  EXPECT_EQ(ask("initialize", json::object(), {{"Mcp-Session-Id", id}})->status, 400);

  auto stream_request = [](const std::string& session) {
    rpc::HeaderMap headers;
    if (!session.empty()) headers.emplace("Mcp-Session-Id", session);
    transport::link::StreamRequest request;
    request.context.transport =
        rpc::TransportContext::http(std::make_shared<const rpc::HeaderMap>(std::move(headers)),
                                    "GET", rpc::SharedText::literal("/mcp"));
    return request;
  };
  auto status = [](const transport::link::StreamAnswer& answer) {
    const auto* refusal = std::get_if<transport::link::StreamRefusal>(&answer);
    return refusal != nullptr ? refusal->http_status : 200;
  };
  EXPECT_EQ(status(gateway().on_stream(stream_request(""))), 405);
  EXPECT_EQ(status(gateway().on_stream(stream_request("nobody"))), 404);
  auto accepted = gateway().on_stream(stream_request(id));
  ASSERT_EQ(status(accepted), 200);
  auto channel = std::make_shared<NamedChannel>("s1");
  std::get<transport::link::StreamAcceptance>(accepted).opened(channel);
  EXPECT_EQ(status(gateway().on_stream(stream_request(id))), 409);
  backend_.clients.at(0).on_notification({"notifications/tools/list_changed", nullptr});
  ASSERT_EQ(channel->pushed.size(), 1U);
  gateway().on_channel_closed(*channel);
  EXPECT_EQ(status(gateway().on_stream(stream_request(id))), 200) << "it may come back";
  EXPECT_FALSE(gateway().on_session_end(stream_request(id).context));
  EXPECT_EQ(gateway().on_session_end(stream_request(id).context)->http_status, 404);
  EXPECT_EQ(ask("ping", json::object(), {{"Mcp-Session-Id", id}})->status, 404);
}

TEST_F(GatewayTest, WithoutSessionsThereAreNoStreams) {
  auto answer = gateway().on_stream({});
  EXPECT_EQ(std::get<transport::link::StreamRefusal>(answer).http_status, 405);
  EXPECT_EQ(gateway().on_session_end({})->http_status, 405);
}

}  // namespace
}  // namespace league::tools::gateway
