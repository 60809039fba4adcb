#include "common/transport/client/streamable_http_connection.h"

#include "common/transport/client/client_fixture.h"

namespace league::transport {
namespace {

using namespace client_tests;  // NOLINT(google-build-using-namespace): its own vocabulary

const std::string kRequest = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string kAnswer = R"({"jsonrpc":"2.0","id":1,"result":{}})";

/// A connection to a server that follows a script.
struct Streamable {
  explicit Streamable(ScriptedServer::Script script, StreamableHttpOptions options = quick())
      : server(std::move(script)), hub(*Hub::start()) {
    connection = make_streamable_http_connection(*hub, endpoint_at("http", server.port(), "/mcp"),
                                                 std::move(options));
    connection->start(receiver);
  }
  ~Streamable() {
    connection->close();
    receiver->wait_closed();
  }
  static StreamableHttpOptions quick() {
    StreamableHttpOptions options;
    options.retry = milliseconds(1);
    return options;
  }

  ScriptedServer server;
  std::unique_ptr<Hub> hub;
  std::shared_ptr<Collector> receiver = std::make_shared<Collector>();
  std::shared_ptr<StreamableHttpConnection> connection;
};

/// Answers every request on a connection alike.
ScriptedServer::Script each(std::string answer) {
  return [answer](ScriptedServer::Connection& connection, int) {
    while (!connection.read_request().empty()) connection.send(answer);
  };
}

/// Answers one request, then closes.
ScriptedServer::Script once(std::string answer) {
  return [answer](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(answer);
  };
}

SendOutcome outcome_of(const ScriptedServer::Script& script, milliseconds limit = kPatience) {
  Streamable peer(script);
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(limit)));
  return sent.outcome();
}

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
  EXPECT_EQ(messages[0].context.session.session_id, rpc::SessionId("s1"));
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
  auto hub = *Hub::start();
  auto connection = make_streamable_http_connection(*hub, endpoint_at("http", port, "/mcp"));
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
      outcome_of([](auto& connection, int) { connection.wait_for_close(); }, milliseconds(50));
  ASSERT_TRUE(silent.error);
  EXPECT_EQ(silent.error->code, ErrorCode::kTimeout);
  EXPECT_TRUE(says(silent.error->message, "receive")) << silent.error->message;
  Streamable dripping([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead);
    while (connection.send(":\n")) std::this_thread::yield();
  });
  Sent sent;
  dripping.connection->send(sent.message(kRequest, in(milliseconds(100))));
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
    peer.connection->send(sent.message(kRequest));
    EXPECT_FALSE(sent.outcome().error);
  }
  EXPECT_EQ(peer.receiver->wait_for(5).size(), 5U);
}

TEST(StreamableHttp, ABrokenStreamIsContinued) {
  std::promise<std::string> resumption;
  Streamable peer([&](ScriptedServer::Connection& connection, int number) {
    std::string request = connection.read_request();
    connection.send(kEventHead);
    if (number == 0) {
      connection.send("id: 7\nretry: 5\ndata:\n\n");
    } else {
      resumption.set_value(request);
      connection.send("id: 8\ndata: " + kAnswer + "\n\n");
    }
  });
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(kPatience), {{"Mcp-Session-Id", "s"}}));
  EXPECT_EQ(peer.receiver->texts(1), kAnswer + "|");
  std::string request = resumption.get_future().get();
  EXPECT_TRUE(request.starts_with("GET /mcp HTTP/1.1\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nLast-Event-ID: 7\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nMcp-Session-Id: s\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nAccept: text/event-stream\r\n")) << request;
}

TEST(StreamableHttp, AStreamThatEndsWithoutItsAnswerIsLost) {
  Streamable no_id(once(kEventHead + "data: {\"id\":2,\"result\":1}\n\n"));
  Sent sent;
  no_id.connection->send(sent.message(kRequest));
  EXPECT_TRUE(says(sent.lost().message, "ended without the answer"));
  EXPECT_EQ(no_id.receiver->count(), 1U);
  Streamable hopeless(once(kEventHead + "id: 1\n\n"));
  Sent again;
  hopeless.connection->send(again.message(kRequest));
  EXPECT_EQ(again.lost().code, ErrorCode::kConnectionError);
  EXPECT_EQ(hopeless.server.connections(), 6);
  Streamable refusing([](ScriptedServer::Connection& connection, int number) {
    connection.read_request();
    connection.send(number == 0 ? kEventHead + "id: 1\n\n" : answer_with(405, "text/plain", "no"));
  });
  Sent refused;
  refusing.connection->send(refused.message(kRequest));
  EXPECT_TRUE(says(refused.lost().message, "status 405"));
}

TEST(StreamableHttp, AServerThatWantsToBeAskedTooLateIsNotAsked) {
  Streamable peer(once(kEventHead + "id: 1\nretry: 60000\n\n"));
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(milliseconds(100))));
  EXPECT_EQ(sent.lost().code, ErrorCode::kTimeout);
  EXPECT_EQ(peer.server.connections(), 1);
}

TEST(StreamableHttp, ListensAndComesBack) {
  std::promise<std::string> third;
  Streamable peer([&](ScriptedServer::Connection& connection, int number) {
    std::string request = connection.read_request();
    if (number == 2) {
      third.set_value(request);
      connection.send(kEventHead + "id: c\ndata: {\"c\":1}\n\n");
      connection.wait_for_close();
      return;
    }
    connection.send(kEventHead +
                    (number == 0 ? "id: a\ndata: {\"a\":1}\n\n" : "data: {\"b\":1}\n\n"));
  });
  std::promise<SendOutcome> opened;
  peer.connection->open_stream({{"Mcp-Session-Id", "s"}},
                               [&](const SendOutcome& outcome) { opened.set_value(outcome); });
  auto outcome = opened.get_future().get();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_EQ(peer.receiver->texts(3), "{\"a\":1}|{\"b\":1}|{\"c\":1}|");
  std::string request = third.get_future().get();
  EXPECT_TRUE(says(request, "\r\nLast-Event-ID: a\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nMcp-Session-Id: s\r\n")) << request;
}

TEST(StreamableHttp, ListeningMayBeRefused) {
  auto refusal_by = [](const std::string& answer) {
    Streamable peer(once(answer));
    std::promise<SendOutcome> opened;
    peer.connection->open_stream({}, [&](const SendOutcome& out) { opened.set_value(out); });
    return opened.get_future().get();
  };
  auto none = refusal_by(answer_with(405, "text/plain", "no streams"));
  EXPECT_FALSE(none.error);
  EXPECT_EQ(none.http_status, 405);
  auto unknown = refusal_by(answer_with(404, "text/plain", "no session"));
  ASSERT_TRUE(unknown.error);
  EXPECT_EQ(unknown.http_status, 404);
  EXPECT_TRUE(says(unknown.error->message, "no session"));
  auto html = refusal_by(answer_with(200, "text/html", "<p>"));
  ASSERT_TRUE(html.error);
  EXPECT_EQ(html.error->code, ErrorCode::kInvalidReply);
}

TEST(StreamableHttp, EndsSessions) {
  std::promise<std::string> seen;
  Streamable peer([&](ScriptedServer::Connection& connection, int) {
    seen.set_value(connection.read_request());
    connection.send("HTTP/1.1 204 No Content\r\n\r\n");
    connection.wait_for_close();
  });
  std::promise<SendOutcome> ended;
  peer.connection->end_session({{"Mcp-Session-Id", "s"}}, in(kPatience),
                               [&](const SendOutcome& outcome) { ended.set_value(outcome); });
  auto outcome = ended.get_future().get();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.http_status, 204);
  std::string request = seen.get_future().get();
  EXPECT_TRUE(request.starts_with("DELETE /mcp HTTP/1.1\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nMcp-Session-Id: s\r\n")) << request;
}

TEST(StreamableHttp, ClosingSendsWhatWaitsAndFailsWhatRuns) {
  std::promise<void> is_asked;
  Streamable peer([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + "id: 1\n\n");
    is_asked.set_value();
    connection.wait_for_close();
  });
  Sent running;
  peer.connection->send(running.message(kRequest));
  is_asked.get_future().wait();
  EXPECT_FALSE(running.outcome().error);
  peer.connection->close();
  EXPECT_EQ(peer.receiver->wait_closed().code, ErrorCode::kShuttingDown);
  EXPECT_EQ(running.lost().code, ErrorCode::kShuttingDown);
  Sent late;
  peer.connection->send(late.message(kRequest));
  EXPECT_EQ(late.outcome().error->code, ErrorCode::kShuttingDown);
}

TEST(StreamableHttp, AReceiverMayPause) {
  Streamable peer([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead);
    for (int i = 0; i < 20000; ++i) {
      if (!connection.send("data: {\"n\":" + std::to_string(i) + "}\n\n")) return;
    }
    connection.send("data: " + kAnswer + "\n\n");
    connection.wait_for_close();
  });
  peer.connection->set_reading(false);
  Sent sent;
  peer.connection->send(sent.message(kRequest));
  EXPECT_FALSE(sent.outcome().error);
  EXPECT_EQ(peer.receiver->count(), 0U);
  peer.connection->set_reading(true);
  auto messages = peer.receiver->wait_for(20001);
  ASSERT_EQ(messages.size(), 20001U);
  EXPECT_EQ(messages[19999].bytes, "{\"n\":19999}");
  EXPECT_EQ(messages[20000].bytes, kAnswer);
}

TEST(StreamableHttp, TheHubMayEndUnderARunningRequest) {
  std::promise<void> is_asked;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + "id: 1\n\n");
    is_asked.set_value();
    connection.wait_for_close();
  });
  auto hub = *Hub::start();
  auto connection = make_streamable_http_connection(*hub, endpoint_at("http", server.port(), "/"));
  connection->start(std::make_shared<Collector>());
  Sent sent;
  connection->send(sent.message(kRequest));
  is_asked.get_future().wait();
  hub->stop();
  connection = nullptr;  // nothing leaks, which the sanitizers see
}

}  // namespace
}  // namespace league::transport
