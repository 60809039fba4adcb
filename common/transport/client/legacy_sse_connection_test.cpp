#include "common/transport/client/legacy_sse_connection.h"

#include <atomic>

#include "common/transport/client/client_testing.h"

namespace league::transport::client {
namespace {

const std::string kEndpointEvent = "event: endpoint\ndata: /messages?session=1\n\n";
const std::string kAccepted = "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted";

/// The script of a server: connection 0 is the stream, the others take POSTs.
struct LegacyServer {
  using Say = std::function<void(ScriptedServer::Connection&)>;

  LegacyServer(Say stream, Say post)
      : server([stream = std::move(stream), post = std::move(post), this](
                   ScriptedServer::Connection& connection, int number) {
          if (number > 0) return post(connection);
          stream_request.set_value(connection.read_request());
          stream(connection);
        }) {}

  std::promise<std::string> stream_request;
  ScriptedServer server;
};

/// Opens a stream that says `events` behind its head and waits.
LegacyServer::Say saying(std::string events, std::string head = kEventHead) {
  return [events = std::move(events), head = std::move(head)](auto& connection) {
    connection.send(head + events);
    connection.wait_for_close();
  };
}
void accept_all(ScriptedServer::Connection& connection) {
  while (!connection.read_request().empty()) connection.send(kAccepted);
}

ConnectOutcome connect_to_stream(link::EventLoop& loop, const LegacyServer& peer,
                                 milliseconds limit = kPatience, LegacySseOptions options = {}) {
  LegacySseConnector connector(loop, std::move(options));
  return open_and_wait(connector, endpoint_at("sse+http", peer.server.port(), "/sse"), limit);
}

ConnectFailure failure_to_connect(const LegacyServer::Say& stream, milliseconds limit = kPatience) {
  LegacyServer peer(stream, accept_all);
  auto loop = *link::EventLoop::start();
  return failure_of(connect_to_stream(*loop, peer, limit));
}

TEST(LegacySse, OpensPostsAndReceives) {
  std::promise<std::string> posted;
  std::promise<void> is_posted;
  LegacyServer peer(
      [&](ScriptedServer::Connection& connection) {
        connection.send(kEventHead +
                        ": hi\r\n\r\nevent: endpoint\r\ndata: /messages?session=1\r\n\r\n");
        is_posted.get_future().wait();
        connection.send("event: message\r\nid: 4\r\ndata: {\"id\":1}\r\n\r\n");
        connection.wait_for_close();
      },
      [&](ScriptedServer::Connection& connection) {
        posted.set_value(connection.read_request());
        connection.send(kAccepted);
        is_posted.set_value();
        connection.wait_for_close();
      });
  auto loop = *link::EventLoop::start();
  LegacySseOptions options;
  options.stream_headers = {{"Authorization", "Bearer a"}, {"X-Bad", "a\r\nb"}};
  options.post_headers = {{"Authorization", "Bearer b"}};
  auto outcome = connect_to_stream(*loop, peer, kPatience, options);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  outcome = {};
  EXPECT_EQ(connection->transport_type(), rpc::TransportType::kSse);
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  Sent sent;
  connection->send(sent.message("{\"id\":1,\"method\":\"a\"}", in(kPatience), {{"X-More", "c"}}));
  EXPECT_EQ(sent.outcome().http_status, 202);
  auto messages = receiver->wait_for(1);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].bytes, "{\"id\":1}");
  const auto& context = messages[0].context;
  EXPECT_EQ(context.direction, rpc::MessageDirection::kServerToClient);
  EXPECT_EQ(context.transport.type, rpc::TransportType::kSse);
  auto sse = std::get<std::shared_ptr<const rpc::SseMetadata>>(context.transport.metadata);
  EXPECT_EQ(sse->event_id, "4");
  EXPECT_EQ(sse->event_type, "message");
  EXPECT_EQ(sse->stream_id, context.transport.connection->connection_id);
  std::string opening = peer.stream_request.get_future().get();
  EXPECT_TRUE(opening.starts_with("GET /sse HTTP/1.1\r\n")) << opening;
  EXPECT_TRUE(says(opening, "\r\nAccept: text/event-stream\r\n")) << opening;
  EXPECT_TRUE(says(opening, "\r\nAuthorization: Bearer a\r\n")) << opening;
  EXPECT_FALSE(says(opening, "X-Bad")) << opening;
  std::string post = posted.get_future().get();
  EXPECT_TRUE(post.starts_with("POST /messages?session=1 HTTP/1.1\r\n")) << post;
  EXPECT_TRUE(says(post, "\r\nAuthorization: Bearer b\r\n")) << post;
  EXPECT_TRUE(says(post, "\r\nX-More: c\r\n")) << post;
  connection->close();
  EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kShuttingDown);
}

TEST(LegacySse, CarriageReturnsInSingleBytes) {
  std::string events = "event: endpoint\rdata: m\r\rdata: {\rdata: }\r\r";
  LegacyServer peer(
      [&](ScriptedServer::Connection& connection) {
        connection.send(kChunkedEventHead);
        for (char c : events) connection.send(chunk(std::string_view(&c, 1)));
        connection.wait_for_close();
      },
      accept_all);
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  EXPECT_EQ(receiver->texts(1), "{\n}|");
}

TEST(LegacySse, RefusalsCarryTheirStatus) {
  auto refused = failure_to_connect(
      [](auto& connection) { connection.send(answer_with(405, "text/plain", "use POST")); });
  EXPECT_EQ(refused.http_status, 405);
  EXPECT_TRUE(says(refused.error.message, "GET of ")) << refused.error.message;
  EXPECT_TRUE(says(refused.error.message, "/sse was refused with status 405: use POST"))
      << refused.error.message;
  auto moved = failure_to_connect([](auto& connection) {
    connection.send("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_EQ(moved.http_status, 302);
}

TEST(LegacySse, AnswersThatAreNoStreamAreNamed) {
  auto failure = failure_to_connect([](auto& connection) {
    connection.send(answer_with(200, "text/html", "<html>a page</html>"));
  });
  EXPECT_EQ(failure.http_status, 200);
  EXPECT_EQ(failure.error.code, ErrorCode::kInvalidReply);
  EXPECT_TRUE(says(failure.error.message, "text/html instead of text/event-stream: <html>"))
      << failure.error.message;
}

TEST(LegacySse, ForeignOriginsAreRefused) {
  for (const char* url :
       {"http://evil.example/messages", "//evil.example/m", "https://127.0.0.1/m",
        "javascript:alert(1)", "http://127.0.0.1:1/m", "http://user@127.0.0.1/m"}) {
    auto failure =
        failure_to_connect(saying("event: endpoint\ndata: " + std::string(url) + "\n\n"));
    EXPECT_EQ(failure.error.code, ErrorCode::kEndpointNotAllowed) << url;
    EXPECT_EQ(failure.http_status, 200);
  }
}

TEST(LegacySse, AStreamWithoutEndpointFailsInTime) {
  auto silent = failure_to_connect(saying(": nothing\n\n"), milliseconds(500));
  EXPECT_EQ(silent.error.code, ErrorCode::kTimeout);
  EXPECT_TRUE(says(silent.error.message, "endpoint")) << silent.error.message;
  auto dripping = failure_to_connect(
      [](auto& connection) {
        connection.send(kEventHead);
        while (connection.send("data: x\n\n")) std::this_thread::yield();
      },
      milliseconds(50));
  EXPECT_EQ(dripping.error.code, ErrorCode::kTimeout);
  auto ended = failure_to_connect([](auto& connection) { connection.send(kEventHead); });
  EXPECT_EQ(ended.error.code, ErrorCode::kConnectionError);
  EXPECT_TRUE(says(ended.error.message, "before its event `endpoint`")) << ended.error.message;
  auto none = failure_to_connect([](auto&) {});
  EXPECT_EQ(none.error.code, ErrorCode::kConnectionError);
  EXPECT_EQ(none.http_status, 0);
  auto mute =
      failure_to_connect([](auto& connection) { connection.wait_for_close(); }, milliseconds(50));
  EXPECT_EQ(mute.error.code, ErrorCode::kTimeout);
}

TEST(LegacySse, OtherSchemesAreRefused) {
  auto loop = *link::EventLoop::start();
  LegacySseConnector connector(*loop);
  auto failure = failure_of(open_and_wait(connector, endpoint_at("ws", 1, "/")));
  EXPECT_EQ(failure.error.code, ErrorCode::kEndpointNotAllowed);
}

TEST(LegacySse, MessagesBeforeTheStartAreKept) {
  LegacyServer peer(saying(kEndpointEvent + "data: 1\n\ndata: 2\n\n"), accept_all);
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer);
  auto receiver = std::make_shared<Collector>();
  std::get<std::shared_ptr<link::MessageConnection>>(outcome)->start(receiver);
  EXPECT_EQ(receiver->texts(2), "1|2|");
}

TEST(LegacySse, TheEndOfTheStreamClosesTheConnection) {
  LegacyServer peer(
      [](auto& connection) { connection.send(kEventHead + kEndpointEvent + "data: 1\n\n"); },
      accept_all);
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  auto why = receiver->wait_closed();
  EXPECT_EQ(receiver->texts(1), "1|");
  EXPECT_EQ(why.code, ErrorCode::kConnectionError);
  EXPECT_TRUE(says(why.message, "/sse failed: the server ended it")) << why.message;
  Sent sent;
  connection->send(sent.message("{}"));
  EXPECT_TRUE(sent.outcome().error);
}

TEST(LegacySse, AnEndlessEventEndsTheConnection) {
  LegacySseOptions options;
  options.limits.max_message = 1000;
  LegacyServer peer(
      [](auto& connection) {
        connection.send(kEventHead + kEndpointEvent + "data: ");
        while (connection.send(std::string(100, 'x'))) std::this_thread::yield();
      },
      accept_all);
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer, kPatience, options);
  auto receiver = std::make_shared<Collector>();
  std::get<std::shared_ptr<link::MessageConnection>>(outcome)->start(receiver);
  EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kReplyTooLarge);
}

TEST(LegacySse, RefusedAndSilentPostsAreReported) {
  std::atomic<int> posts = 0;
  LegacyServer peer(saying(kEndpointEvent), [&](auto& connection) {
    connection.read_request();
    if (posts++ == 0) {
      connection.send(answer_with(400, "text/plain", "no such session"));
    }
    connection.wait_for_close();
  });
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  Sent refused;
  connection->send(refused.message("{}"));
  auto why = refused.outcome();
  EXPECT_EQ(why.http_status, 400);
  EXPECT_TRUE(says(why.error->message, "/messages?session=1 was refused with status 400: no such"))
      << why.error->message;
  Sent silent;
  connection->send(silent.message("{}", in(milliseconds(50))));
  EXPECT_EQ(silent.outcome().error->code, ErrorCode::kTimeout);
  Sent failed;
  connection->send(failed.message("{}"));
  connection->close();  // waits for what was begun, but not for ever
  EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kShuttingDown);
  EXPECT_EQ(failed.outcome().error->code, ErrorCode::kShuttingDown);
}

TEST(LegacySse, ClosingSendsWhatWaits) {
  std::atomic<int> posts = 0;
  LegacyServer peer(saying(kEndpointEvent), [&](ScriptedServer::Connection& connection) {
    while (!connection.read_request().empty()) {
      ++posts;
      connection.send(kAccepted);
    }
  });
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(std::move(outcome));
  outcome = {};
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  for (int i = 0; i < 20; ++i) connection->send({{std::string("{}"), {}}});
  connection = nullptr;
  EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kShuttingDown);
  EXPECT_EQ(posts, 20);
}

TEST(LegacySse, TooMuchWaitingIsRefused) {
  LegacySseOptions options;
  options.limits.max_waiting = 1000;
  LegacyServer peer(saying(kEndpointEvent), [](auto& connection) { connection.wait_for_close(); });
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer, kPatience, options);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  connection->start(std::make_shared<Collector>());
  connection->send({{std::string(800, ' '), {}}});
  Sent sent;
  connection->send(sent.message(std::string(300, ' ')));
  EXPECT_EQ(sent.outcome().error->code, ErrorCode::kOverloaded);
}

TEST(LegacySse, APauseHoldsTheServerBack) {
  std::atomic<std::size_t> sent = 0;
  LegacyServer peer(
      [&](auto& connection) {
        connection.send(kEventHead + kEndpointEvent);
        const std::string event = "data: " + std::string(1000, 'x') + "\n\n";
        while (sent < 100'000 && connection.send(event)) ++sent;
        connection.wait_for_close();
      },
      accept_all);
  auto loop = *link::EventLoop::start();
  auto outcome = connect_to_stream(*loop, peer);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  connection->set_reading(false);
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  // The system's buffers take some megabytes of the 100 MB, and the rest waits at the server.
  std::size_t before = 0;
  ASSERT_TRUE(eventually([&] { return sent > 0 && std::exchange(before, sent.load()) == sent; }));
  EXPECT_EQ(receiver->count(), 0U);
  EXPECT_LT(sent, 50'000U);
  connection->set_reading(true);
  EXPECT_GE(receiver->wait_for(1000).size(), 1000U);
}

}  // namespace
}  // namespace league::transport::client
