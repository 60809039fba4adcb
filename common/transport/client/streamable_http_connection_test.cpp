#include "common/transport/client/streamable_testing.h"

namespace league::transport::client {
namespace {

TEST(StreamableHttp, AJsonAnswerComesAsAMessageWithItsHead) {
  std::promise<std::string> seen;
  Streamable peer([&](ScriptedServer::Connection& connection, int) {
    seen.set_value(connection.read_request());
    connection.send(answer_with(200, "application/json", kAnswer, "Mcp-Session-Id: s1\r\n"));
    connection.wait_for_close();
  });
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(kPatience), {{"Mcp-Session-Id", "s0"}}));
  auto outcome = sent.outcome();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.http_status, 200);
  auto messages = peer.receiver->wait_for(1);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].bytes, kAnswer);
  const auto* http = messages[0].context.transport.as_http();
  ASSERT_NE(http, nullptr);
  EXPECT_EQ(http->status, 200);
  EXPECT_EQ(rpc::find_header(*http->headers, "mcp-session-id"), "s1");
  EXPECT_EQ(messages[0].context.session, rpc::SessionId("s1"));
  EXPECT_EQ(messages[0].context.transport.connection->remote_address,
            "127.0.0.1:" + std::to_string(peer.server.port()));
  std::string request = seen.get_future().get();
  EXPECT_TRUE(request.starts_with("POST /mcp HTTP/1.1\r\n")) << request;
  for (std::string line :
       {"Host: 127.0.0.1:" + std::to_string(peer.server.port()),
        std::string("Content-Type: application/json"), std::string("Mcp-Session-Id: s0"),
        std::string("Accept: application/json, text/event-stream")}) {
    EXPECT_TRUE(says(request, "\r\n" + line + "\r\n")) << line << "\n" << request;
  }
  EXPECT_TRUE(request.ends_with("\r\n\r\n" + kRequest));
}

TEST(StreamableHttp, EventsComeAsMessages) {
  std::string events =
      ": hello\nid: e1\nretry: 70\ndata:\n\nevent: message\nid: e2\ndata: {\"method\":\"x\"}\n\n"
      "event: other\ndata: {}\n\nid: e3\ndata: " +
      kAnswer + "\n\n";
  for (std::size_t size : {1U, 3U, 1000U}) {
    Streamable peer([&](ScriptedServer::Connection& connection, int) {
      connection.read_request();
      connection.send(kChunkedEventHead);
      for (std::string_view rest = events; !rest.empty();) {
        connection.send(chunk(rest.substr(0, size)));
        rest.remove_prefix(std::min(size, rest.size()));
      }
      connection.send("0\r\n\r\n");
      connection.read_request();
    });
    Sent sent;
    peer.connection->send(sent.message(kRequest));
    auto messages = peer.receiver->wait_for(2);
    ASSERT_EQ(messages.size(), 2U);
    EXPECT_EQ(messages[1].bytes, kAnswer);
    EXPECT_EQ(messages[1].context.transport.type, rpc::TransportType::kSse);
    const auto* sse = std::get_if<std::shared_ptr<const rpc::SseMetadata>>(
        &messages[1].context.transport.metadata);
    ASSERT_NE(sse, nullptr);
    EXPECT_EQ((*sse)->event_id, "e3");
    EXPECT_EQ((*sse)->event_type, "message");
    EXPECT_FALSE((*sse)->stream_id.empty());
    EXPECT_FALSE(sent.outcome().error);
  }
}

TEST(StreamableHttp, NotificationsAreAcknowledged) {
  Streamable peer(each("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
  for (int i = 0; i < 3; ++i) {
    Sent sent;
    peer.connection->send(sent.message(R"({"jsonrpc":"2.0","method":"n"})"));
    auto outcome = sent.outcome();
    EXPECT_FALSE(outcome.error);
    EXPECT_EQ(outcome.http_status, 202);
  }
  EXPECT_EQ(peer.server.connections(), 1);
  EXPECT_EQ(peer.receiver->count(), 0U);
}

TEST(StreamableHttp, ARefusalWithAMessageDeliversTheMessageFirst) {
  std::string fault = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}})";
  Streamable peer(each(answer_with(400, "application/json", fault)));
  Sent sent;
  peer.connection->send(sent.message(kRequest));
  auto outcome = sent.outcome();
  EXPECT_EQ(outcome.http_status, 400);
  ASSERT_TRUE(outcome.error);
  EXPECT_TRUE(says(outcome.error->message, "status 400")) << outcome.error->message;
  ASSERT_EQ(peer.receiver->count(), 1U);
  auto message = peer.receiver->wait_for(1)[0];
  EXPECT_EQ(message.bytes, fault);
  EXPECT_EQ(message.context.transport.as_http()->status, 400);
}

TEST(StreamableHttp, RefusalsNameStatusAndText) {
  auto outcome = outcome_of(once(answer_with(503, "text/plain", "try\nlater")));
  EXPECT_EQ(outcome.http_status, 503);
  ASSERT_TRUE(outcome.error);
  EXPECT_TRUE(says(outcome.error->message, "status 503: try later")) << outcome.error->message;
  auto moved = outcome_of(once("HTTP/1.1 307 X\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_EQ(moved.http_status, 307);
  EXPECT_TRUE(moved.error);
}

TEST(StreamableHttp, WrongContentTypesAreNamed) {
  auto outcome = outcome_of(once(answer_with(200, "text/html; charset=x", "<p>hi</p>")));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kInvalidReply);
  EXPECT_TRUE(says(outcome.error->message, "text/html")) << outcome.error->message;
  EXPECT_TRUE(says(outcome.error->message, "<p>hi</p>")) << outcome.error->message;
  Streamable lenient(once(answer_with(200, "text/plain", kAnswer)));
  Sent sent;
  lenient.connection->send(sent.message(kRequest));
  EXPECT_FALSE(sent.outcome().error);
  EXPECT_EQ(lenient.receiver->texts(1), kAnswer + "|");
}

TEST(StreamableHttp, PeersThatHangUpAreReported) {
  auto outcome =
      outcome_of([](ScriptedServer::Connection& connection, int) { connection.read_request(); });
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kConnectionError);
  EXPECT_TRUE(says(outcome.error->message, "closed the connection without an answer"))
      << outcome.error->message;
  EXPECT_TRUE(outcome_of(once("SSH-2.0-OpenSSH\r\n")).error);
  EXPECT_TRUE(outcome_of(once("HTTP/1.1 101 Switching Protocols\r\n\r\n")).error);
  EXPECT_TRUE(outcome_of(once("HTTP/1.1 200 OK\r\nX: " + std::string(100000, 'x'))).error);
}

TEST(StreamableHttp, BodiesThatBreakOffAreLost) {
  Streamable peer(
      once("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"));
  Sent sent;
  peer.connection->send(sent.message(kRequest));
  EXPECT_FALSE(sent.outcome().error);
  EXPECT_EQ(sent.lost().code, ErrorCode::kConnectionError);
}

TEST(StreamableHttp, NobodyListens) {
  std::uint16_t port = 0;
  {
    port = ScriptedServer([](auto&, int) {}).port();
  }
  auto loop = *link::EventLoop::start();
  auto connection = make_streamable_http_connection(*loop, endpoint_at("http", port, "/mcp"));
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  Sent sent;
  connection->send(sent.message(kRequest));
  auto outcome = sent.outcome();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kConnectionError);
  EXPECT_TRUE(says(outcome.error->message, "failed at connect: Connection refused"))
      << outcome.error->message;
  connection = nullptr;
  EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kShuttingDown);
}

TEST(StreamableHttp, DeadlinesEndSilentAndDrippingPeers) {
  auto silent =
      outcome_of([](auto& connection, int) { connection.wait_for_close(); }, milliseconds(500));
  ASSERT_TRUE(silent.error);
  EXPECT_EQ(silent.error->code, ErrorCode::kTimeout);
  EXPECT_TRUE(says(silent.error->message, "receive")) << silent.error->message;
  Streamable dripping([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead);
    while (connection.send(":\n")) std::this_thread::yield();
  });
  Sent sent;
  dripping.connection->send(sent.message(kRequest, in(milliseconds(500))));
  EXPECT_FALSE(sent.outcome().error);
  EXPECT_EQ(sent.lost().code, ErrorCode::kTimeout);
}

TEST(StreamableHttp, HugeAnswersAreCutOff) {
  auto options = Streamable::quick();
  options.limits.max_message = 1000;
  auto endless = [](std::string head) {
    return [head](ScriptedServer::Connection& connection, int) {
      connection.read_request();
      connection.send(head);
      while (connection.send(std::string(100, 'x'))) std::this_thread::yield();
    };
  };
  for (const auto& head :
       {kEventHead + "data: ",
        std::string("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")}) {
    Streamable peer(endless(head), options);
    Sent sent;
    peer.connection->send(sent.message(kRequest));
    EXPECT_EQ(sent.lost().code, ErrorCode::kReplyTooLarge);
  }
}

TEST(StreamableHttp, AnswersComeInAnyOrder) {
  std::promise<void> second_is_here;
  auto is_here = second_is_here.get_future().share();
  Streamable peer([&, is_here](ScriptedServer::Connection& connection, int) {
    std::string request = connection.read_request();
    if (says(request, "\"id\":1")) {
      is_here.wait();
    } else {
      second_is_here.set_value();
    }
    connection.send(answer_with(200, "application/json",
                                says(request, "\"id\":1") ? "{\"id\":1}" : "{\"id\":2}"));
    connection.wait_for_close();
  });
  Sent first;
  Sent second;
  peer.connection->send(first.message(R"({"id":1,"method":"a"})"));
  peer.connection->send(second.message(R"({"id":2,"method":"a"})"));
  EXPECT_EQ(peer.receiver->wait_for(2).size(), 2U);
}

TEST(StreamableHttp, NeverMoreConnectionsThanAllowed) {
  auto options = Streamable::quick();
  options.limits.max_connections = 2;
  Streamable peer(each(answer_with(200, "application/json", kAnswer)), options);
  std::vector<Sent> sent(50);
  for (auto& one : sent) peer.connection->send(one.message(kRequest));
  for (auto& one : sent) EXPECT_FALSE(one.outcome().error);
  EXPECT_EQ(peer.receiver->wait_for(50).size(), 50U);
  EXPECT_LE(peer.server.connections(), 2);
}

TEST(StreamableHttp, AConnectionThatThePeerGaveUpIsReplaced) {
  Streamable peer([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(answer_with(200, "application/json", kAnswer));
  });
  for (int i = 0; i < 5; ++i) {
    Sent sent;
    auto message = sent.message(kRequest);
    message.is_repeatable = true;  // else nobody could know whether it was executed
    peer.connection->send(std::move(message));
    EXPECT_FALSE(sent.outcome().error);
  }
  EXPECT_EQ(peer.receiver->wait_for(5).size(), 5U);
}

}  // namespace
}  // namespace league::transport::client
