#include <gtest/gtest.h>

#include <fstream>

#include "common/mcp/server_testing.h"

namespace league::mcp {
namespace {

using nlohmann::json;

/// Whether `wanted` is in `given`: objects may have more members, arrays more elements.
bool is_part(const json& wanted, const json& given) {
  if (wanted.is_object()) {
    if (!given.is_object()) return false;
    for (const auto& [name, value] : wanted.items()) {
      if (!given.contains(name) || !is_part(value, given[name])) return false;
    }
    return true;
  }
  if (wanted.is_array()) {
    if (!given.is_array() || given.size() < wanted.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!is_part(wanted[i], given[i])) return false;
    }
    return true;
  }
  return wanted == given;
}

void play(const json& line) {
  ServerUnderTest under;
  ServerUnderTest::Headers headers;
  if (line.contains("session")) headers = under.initialize(line["session"]);
  if (line.contains("headers")) {
    for (const auto& [name, value] : line["headers"].items()) headers.emplace_back(name, value);
  }
  std::string body = line.contains("raw") ? line["raw"].get<std::string>() : line["send"].dump();
  auto answer = under.post(body, headers);
  EXPECT_EQ(answer.status, line["status"]);
  if (line.contains("answer")) {
    EXPECT_TRUE(is_part(line["answer"], answer.json)) << answer.bytes;
  }
  if (line.contains("empty")) {
    EXPECT_EQ(answer.bytes, "");
  }
  for (const auto& pointer : line.value("absent", json::array()))
    EXPECT_FALSE(answer.json.contains(json::json_pointer(pointer))) << answer.bytes;
  for (const auto& name : line.value("gives", json::array()))
    EXPECT_TRUE(answer.headers.contains(name)) << name;
}

class Transcripts : public ::testing::TestWithParam<const char*> {};

TEST_P(Transcripts, EachRule) {
  std::ifstream file(std::string(LEAGUE_SOURCE_DIR) + "/tests/conformance/mcp/" + GetParam());
  int rules = 0;
  for (std::string text; std::getline(file, text); ++rules) {
    auto line = json::parse(text);
    SCOPED_TRACE(line["rule"].get<std::string>());
    play(line);
  }
  EXPECT_GT(rules, 20);
}

INSTANTIATE_TEST_SUITE_P(Mcp, Transcripts,
                         ::testing::Values("dispatch.jsonl", "legacy.jsonl", "modern.jsonl"));

TEST(McpServer, NotesTheMethodForTheLog) {
  ServerUnderTest under;
  EXPECT_EQ(under.call("tools/list", nullptr).request_notes->message_type, "tools/list");
  auto bad = under.post("{");
  EXPECT_EQ(bad.request_notes->verdict, core::ErrorCode::kMalformedMessage);
  EXPECT_EQ(under.call("tools/call", {{"name", "echo"}, {"arguments", {{"text", "a"}}}})
                .request_notes->message_type,
            "echo");
}

TEST(McpServer, HandsTheLeaguesMessagesOverAsTheyCame) {
  ServerUnderTest under;
  auto headers = under.initialize();
  under.call("choose_parity", {{"a", 1}}, headers);
  ASSERT_EQ(under.application.documents.size(), 1U);
  EXPECT_EQ(under.application.documents[0], request(1, "choose_parity", {{"a", 1}}));
  EXPECT_TRUE(under.application.contexts[0].session);
}

TEST(McpServer, ASessionOfTheBusStaysTheClientsOwn) {
  ServerUnderTest under;
  auto channel = std::make_shared<RecordingChannel>("nats-1");
  const rpc::SessionId own("0f3c0f3c0f3c0f3c");
  auto send = [&](const json& message) {
    transport::link::Inbound inbound;
    inbound.bytes = message.dump();
    inbound.context =
        rpc::MessageContext::now(under.time, rpc::MessageDirection::kClientToServer,
                                 rpc::TransportContext::nats({"mcp.session.0f3c.in", {}, {}}));
    inbound.context.session = own;
    inbound.channel = channel;
    under.server.on_message(std::move(inbound),
                            transport::link::ReplySlot([](const auto& /*reply*/) {}));
  };
  send(request(1, "initialize",
               {{"protocolVersion", "2025-06-18"}, {"capabilities", json::object()}}));
  send(request(2, "events_subscribe"));
  ASSERT_EQ(under.application.contexts.size(), 1U);
  EXPECT_EQ(under.application.contexts[0].session, own);
}

TEST(McpServer, PagesAreInTheOrderOfNames) {
  ServerUnderTest under;
  for (int i = 24; i > 0; --i) {
    under.server.registry().add({.name = "tool" + std::to_string(100 + i),
                                 .input_schema = R"({"type":"object"})",
                                 .handler = [](const ServedToolCall&) {}});
  }
  std::vector<std::string> names;
  json params = json::object();
  for (int page = 0; page < 3; ++page) {
    auto result = under.call("tools/list", params).json["result"];
    EXPECT_LE(result["tools"].size(), 10U);
    for (const auto& tool : result["tools"]) names.push_back(tool["name"]);
    EXPECT_EQ(result.contains("nextCursor"), page < 2);
    if (page < 2) params["cursor"] = result["nextCursor"];
  }
  EXPECT_EQ(names.size(), 29U);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  // A cursor is of one list only.
  EXPECT_EQ(under.call("prompts/list", params).json["error"]["code"], -32602);
}

TEST(McpServer, ASessionEnds) {
  ServerUnderTest under;
  auto headers = under.initialize();
  EXPECT_EQ(under.call("tools/list", nullptr, headers).status, 200);
  EXPECT_FALSE(under.end_session(headers));
  EXPECT_EQ(under.call("tools/list", nullptr, headers).status, 404);
  EXPECT_EQ(under.end_session(headers)->http_status, 404);
  EXPECT_EQ(under.end_session({})->http_status, 400);
  EXPECT_EQ(under.end_session({{"MCP-Protocol-Version", "2026-07-28"}})->http_status, 405);
}

TEST(McpServer, SessionsExpireAndMakeRoom) {
  ServerUnderTest under({.most = 3, .idle = std::chrono::minutes(10)});
  auto first = under.initialize();
  auto second = under.initialize();
  auto third = under.initialize();
  EXPECT_NE(first, second);
  EXPECT_EQ(under.call("ping", nullptr, first).status, 200);  // now `second` waits longest
  auto fourth = under.initialize();
  EXPECT_EQ(under.call("ping", nullptr, second).status, 404);
  EXPECT_EQ(under.call("ping", nullptr, first).status, 200);
  EXPECT_EQ(under.call("ping", nullptr, fourth).status, 200);
  under.time.jump(std::chrono::minutes(11));
  EXPECT_EQ(under.call("ping", nullptr, third).status, 404);
}

TEST(McpServer, SessionIdsAreVisibleAscii) {
  ServerUnderTest under;
  std::string id = under.initialize().front().second;
  EXPECT_GE(id.size(), 32U);
  EXPECT_TRUE(std::ranges::all_of(id, [](char c) { return c > 0x20 && c < 0x7F; }));
}

int refusal_of(const transport::link::StreamAnswer& answer) {
  const auto* refusal = std::get_if<transport::link::StreamRefusal>(&answer);
  return refusal == nullptr ? 0 : refusal->http_status;
}

TEST(McpServer, OneStreamASession) {
  ServerUnderTest under;
  EXPECT_EQ(refusal_of(under.listen({})), 405);
  EXPECT_EQ(refusal_of(under.listen({{"Mcp-Session-Id", "nobody"}})), 404);
  EXPECT_EQ(refusal_of(under.listen({{"MCP-Protocol-Version", "2026-07-28"}})), 405);
  EXPECT_EQ(refusal_of(under.listen({{"MCP-Protocol-Version", "1999-01-01"}})), 400);
  auto headers = under.initialize("2025-11-25");
  {
    auto abandoned = under.listen(headers);
    EXPECT_EQ(refusal_of(abandoned), 0);
    EXPECT_EQ(refusal_of(under.listen(headers)), 409);
  }
  auto answer = under.listen(headers);
  auto& acceptance = std::get<transport::link::StreamAcceptance>(answer);
  EXPECT_TRUE(acceptance.options.is_resumable);
  auto stream = std::make_shared<RecordingChannel>("s1");
  acceptance.opened(stream);
  EXPECT_EQ(refusal_of(under.listen(headers)), 409);
  stream->away = true;
  {
    auto taken_over = under.listen(headers);
    EXPECT_EQ(refusal_of(taken_over), 0)
        << "nobody returns to a stream of which a new one is opened";
    EXPECT_FALSE(stream->is_open());
  }
  under.server.on_channel_closed(*stream);
  answer = transport::link::StreamRefusal{};
  EXPECT_EQ(refusal_of(under.listen(headers)), 0);
}

std::shared_ptr<RecordingChannel> open_stream(ServerUnderTest& under,
                                              const ServerUnderTest::Headers& headers) {
  auto answer = under.listen(headers);
  auto stream = std::make_shared<RecordingChannel>("stream of " + headers.front().second);
  std::get<transport::link::StreamAcceptance>(answer).opened(stream);
  return stream;
}

TEST(McpServer, TellsSubscribersOnly) {
  ServerUnderTest under;
  auto headers = under.initialize();
  auto others = under.initialize();
  auto stream = open_stream(under, headers);
  auto other_stream = open_stream(under, others);
  under.server.notify_resource_updated("test://a");
  under.call("resources/subscribe", {{"uri", "test://a"}}, headers);
  under.server.notify_resource_updated("test://a");
  under.server.notify_resource_updated("test://b");
  ASSERT_EQ(stream->messages.size(), 1U);
  EXPECT_EQ(stream->messages[0]["method"], "notifications/resources/updated");
  EXPECT_EQ(stream->messages[0]["params"]["uri"], "test://a");
  under.call("resources/unsubscribe", {{"uri", "test://a"}}, headers);
  under.server.notify_resource_updated("test://a");
  EXPECT_EQ(stream->messages.size(), 1U);
  under.server.notify_list_changed(Registry::List::kTools);
  EXPECT_EQ(stream->messages.size(), 2U);
  EXPECT_EQ(other_stream->messages.size(), 1U);
}

TEST(McpServer, AConnectionIsASession) {
  ServerUnderTest under;
  auto connection = std::make_shared<RecordingChannel>("c1");
  auto stranger = std::make_shared<RecordingChannel>("c2");
  EXPECT_EQ((*under.send(request(1, "ping"), connection))->json["result"]["league"], "ping");
  json params = {{"protocolVersion", "2025-06-18"}};
  EXPECT_TRUE((*under.send(request(2, "initialize", params), connection))->json.contains("result"));
  EXPECT_EQ((*under.send(request(3, "ping"), connection))->json["result"], json::object());
  EXPECT_EQ((*under.send(request(3, "ping"), stranger))->json["result"]["league"], "ping");
  under.send(request(4, "resources/subscribe", {{"uri", "test://a"}}), connection);
  EXPECT_TRUE((*under.send(request(4, "initialize", params), connection))->json.contains("result"))
      << "a proxy's next client begins anew";
  under.server.notify_resource_updated("test://a");
  EXPECT_TRUE(connection->messages.empty()) << "with nothing of the one before";
  under.send(request(5, "resources/subscribe", {{"uri", "test://a"}}), connection);
  under.server.notify_resource_updated("test://a");
  EXPECT_EQ(connection->messages.size(), 1U);
  under.server.on_channel_closed(*connection);
  under.server.notify_resource_updated("test://a");
  EXPECT_EQ(connection->messages.size(), 1U);
  EXPECT_EQ((*under.send(request(6, "ping"), connection))->json["result"]["league"], "ping");
}

TEST(McpServer, TheModernDialectNeedsNoHeadersOnAConnection) {
  ServerUnderTest under;
  auto connection = std::make_shared<RecordingChannel>("c1");
  json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
               {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  auto answer = *under.send(request(1, "server/discover", {{"_meta", meta}}), connection);
  EXPECT_EQ(answer->json["result"]["supportedVersions"], json::array({"2026-07-28"}));
}

TEST(McpServer, ProgressOnlyWhereItIsWanted) {
  ServerUnderTest under;
  auto headers = under.initialize("2025-11-25");
  auto channel = std::make_shared<RecordingChannel>("p1");
  auto quiet = std::make_shared<RecordingChannel>("p2");
  json params = {{"name", "waits"}, {"_meta", {{"progressToken", "t1"}}}};
  auto wanted = under.begin(request(1, "tools/call", params).dump(), headers, channel);
  auto unwanted = under.begin(request(2, "tools/call", {{"name", "waits"}}).dump(), headers, quiet);
  for (const auto& reply : under.waiting) {
    reply.request_context().progress({.done = 1, .total = 2, .message = "half"});
    reply.send({{"content", json::array()}});
    EXPECT_FALSE(reply.request_context().progress({.done = 2}));  // nothing after the answer
  }
  ASSERT_EQ(channel->messages.size(), 1U);
  EXPECT_TRUE(channel->stream.is_resumable);
  EXPECT_EQ(
      channel->messages[0]["params"],
      (json{{"progressToken", "t1"}, {"progress", 1.0}, {"total", 2.0}, {"message", "half"}}));
  EXPECT_TRUE(quiet->messages.empty());
  EXPECT_TRUE(wanted->has_value() && unwanted->has_value());
}

TEST(McpServer, LogsAreFilteredByLevel) {
  ServerUnderTest under;
  auto headers = under.initialize();
  under.call("logging/setLevel", {{"level", "warning"}}, headers);
  auto channel = std::make_shared<RecordingChannel>("p1");
  auto answer = under.begin(request(1, "tools/call", {{"name", "waits"}}).dump(), headers, channel);
  auto& request_context = under.waiting.front().request_context();
  EXPECT_FALSE(request_context.log(LogLevel::kNotice, "x", "quiet"));
  EXPECT_TRUE(request_context.log(LogLevel::kError, "x", "loud"));
  EXPECT_EQ(channel->messages.size(), 1U);
}

TEST(McpServer, ACancelledRequestGetsNoAnswer) {
  ServerUnderTest under;
  auto headers = under.initialize();
  auto answer = under.begin(request(9, "tools/call", {{"name", "waits"}}).dump(), headers);
  bool is_told = false;
  under.waiting.front().request_context().on_cancelled([&] { is_told = true; });
  json cancel = {
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 9}}}};
  EXPECT_EQ(under.post(cancel.dump(), under.initialize()).status, 202);  // of another session
  EXPECT_FALSE(is_told);
  EXPECT_EQ(under.post(cancel.dump(), headers).status, 202);
  EXPECT_TRUE(is_told);
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->bytes, "");
  under.waiting.front().send({{"content", json::array()}});
  EXPECT_EQ((*answer)->bytes, "");
}

TEST(McpServer, ADisconnectCancelsOnlyInTheModernDialect) {
  ServerUnderTest under;
  auto headers = under.initialize();
  auto legacy_stream = std::make_shared<RecordingChannel>("l");
  auto legacy =
      under.begin(request(1, "tools/call", {{"name", "waits"}}).dump(), headers, legacy_stream);
  under.server.on_channel_closed(*legacy_stream);
  EXPECT_FALSE(under.waiting[0].request_context().is_cancelled());
  json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
               {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  auto modern_stream = std::make_shared<RecordingChannel>("m");
  auto modern = under.begin(
      request(1, "tools/call", {{"name", "waits"}, {"_meta", meta}}).dump(),
      {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "waits"}},
      modern_stream);
  ASSERT_EQ(under.waiting.size(), 2U);
  under.server.on_channel_closed(*modern_stream);
  EXPECT_TRUE(under.waiting[1].request_context().is_cancelled());
}

TEST(McpServer, AsksItsClients) {
  ServerUnderTest under;
  auto headers = under.initialize("2025-06-18", {{"sampling", json::object()}});
  auto channel = std::make_shared<RecordingChannel>("p1");
  auto answer = under.begin(request(1, "tools/call", {{"name", "waits"}}).dump(), headers, channel);
  auto& request_context = under.waiting.front().request_context();
  EXPECT_TRUE(request_context.client_has("sampling"));
  EXPECT_FALSE(request_context.client_has("elicitation"));
  std::vector<core::Result<rpc::Response>> answers;
  auto keep = [&](core::Result<rpc::Response> one) { answers.push_back(std::move(one)); };
  request_context.ask_client("sampling/createMessage", {{"a", 1}}, std::chrono::seconds(5), keep);
  ASSERT_EQ(channel->messages.size(), 1U);
  json reply = {{"jsonrpc", "2.0"}, {"id", channel->messages[0]["id"]}, {"result", {{"b", 2}}}};
  under.post(reply.dump(), under.initialize());  // somebody else's word
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(under.post(reply.dump(), headers).status, 202);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]->result["b"], 2);
  request_context.ask_client("roots/list", json::object(), std::chrono::seconds(5), keep);
  under.time.advance(std::chrono::seconds(6));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].error().code, core::ErrorCode::kTimeout);
  request_context.ask_client("roots/list", json::object(), std::chrono::seconds(5), keep);
  under.end_session(headers);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[2].error().code, core::ErrorCode::kConnectionError);
}

}  // namespace
}  // namespace league::mcp
