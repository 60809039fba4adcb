#include "common/transport/client/web_socket_connection.h"

#include "common/transport/client/client_testing.h"
#include "common/transport/client/frame_server_testing.h"

namespace league::transport::client {
namespace {

ConnectOutcome connect_socket(link::EventLoop& loop, std::uint16_t port,
                              const WebSocketOptions& options = {},
                              milliseconds limit = kPatience) {
  WebSocketConnector connector(loop, options);
  return open_and_wait(connector, endpoint_at("ws", port, "/mcp"), limit);
}

/// A connection to a server that follows a script behind the handshake.
struct Framed {
  explicit Framed(std::function<void(FramePeer&)> script, const WebSocketOptions& options = {})
      : server([script = std::move(script)](ScriptedServer::Connection& raw, int) {
          FramePeer peer(raw);
          if (peer.accept()) script(peer);
        }),
        loop(*link::EventLoop::start()) {
    auto outcome = connect_socket(*loop, server.port(), options);
    connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
    connection->start(receiver);
  }
  core::Error end() { return receiver->wait_closed(); }

  ScriptedServer server;
  std::unique_ptr<link::EventLoop> loop;
  std::shared_ptr<Collector> receiver = std::make_shared<Collector>();
  std::shared_ptr<link::MessageConnection> connection;
};

TEST(WebSocketClient, ShakesHandsAndExchangesMessages) {
  std::promise<std::string> request;
  std::promise<Frame> seen;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    FramePeer peer(connection);
    peer.accept("Sec-WebSocket-Protocol: mcp\r\n");
    request.set_value(peer.request());
    seen.set_value(peer.read());
    peer.send(0x81, "{\"id\":1}");
    peer.answer_close();
  });
  auto loop = *link::EventLoop::start();
  WebSocketOptions options;
  options.headers = {{"Authorization", "Bearer x"}, {"X-Bad", "a\r\nb"}};
  auto outcome = connect_socket(*loop, server.port(), options);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  EXPECT_EQ(connection->transport_type(), rpc::TransportType::kWebSocket);
  auto receiver = std::make_shared<Collector>();
  connection->start(receiver);
  Sent sent;
  connection->send(sent.message("{\"id\":1,\"method\":\"ping\"}"));
  EXPECT_FALSE(sent.outcome().error);
  auto messages = receiver->wait_for(1);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].bytes, "{\"id\":1}");
  const auto& transport = messages[0].context.transport;
  EXPECT_EQ(transport.type, rpc::TransportType::kWebSocket);
  EXPECT_EQ(std::get<rpc::WebSocketMetadata>(transport.metadata), rpc::WebSocketMetadata{});
  EXPECT_EQ(transport.connection->remote_address, "127.0.0.1:" + std::to_string(server.port()));
  Frame frame = seen.get_future().get();
  EXPECT_EQ(frame.head, 0x81);
  EXPECT_EQ(frame.payload, "{\"id\":1,\"method\":\"ping\"}");
  std::string upgrade = request.get_future().get();
  EXPECT_TRUE(upgrade.starts_with("GET /mcp HTTP/1.1\r\n")) << upgrade;
  for (std::string line :
       {"Host: 127.0.0.1:" + std::to_string(server.port()),
        std::string("Sec-WebSocket-Protocol: mcp"), std::string("Authorization: Bearer x")}) {
    EXPECT_TRUE(says(upgrade, "\r\n" + line + "\r\n")) << line << "\n" << upgrade;
  }
  EXPECT_FALSE(says(upgrade, "X-Bad"));
  EXPECT_FALSE(says(upgrade, "permessage-deflate"));
  connection->close();
  EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kShuttingDown);
}

TEST(WebSocketClient, PutsFragmentsTogetherAndAnswersPings) {
  std::promise<Frame> pong;
  Framed peer([&](FramePeer& server) {
    server.send(0x01, "{\"a\":");
    server.send(0x89, "are you there");
    server.send(0x00, "\"\xC3");
    server.send(0x80, "\xA4\"}");
    pong.set_value(server.read());
    server.answer_close();
  });
  EXPECT_EQ(peer.receiver->texts(1), "{\"a\":\"\xC3\xA4\"}|");
  Frame frame = pong.get_future().get();
  EXPECT_EQ(frame.head, 0x8A);
  EXPECT_EQ(frame.payload, "are you there");
}

TEST(WebSocketClient, RefusalsCarryTheirStatus) {
  auto failure_by = [](const std::string& answer, milliseconds limit = kPatience) {
    ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
      connection.read_request();
      connection.send(answer);
      if (answer.empty()) connection.wait_for_close();
    });
    auto loop = *link::EventLoop::start();
    return failure_of(connect_socket(*loop, server.port(), {}, limit));
  };
  auto missing = failure_by(answer_with(404, "text/plain", "nothing here"));
  EXPECT_EQ(missing.http_status, 404);
  EXPECT_TRUE(says(missing.error.message, "status 404: nothing here")) << missing.error.message;
  EXPECT_EQ(
      failure_by("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").http_status,
      302);
  auto plain = failure_by(answer_with(200, "text/html", "<p>"));
  EXPECT_EQ(plain.http_status, 200);
  EXPECT_EQ(failure_by("garbage\r\n\r\n").error.code, ErrorCode::kConnectionError);
  auto silent = failure_by("", milliseconds(500));
  EXPECT_EQ(silent.error.code, ErrorCode::kTimeout);
  EXPECT_TRUE(says(silent.error.message, "failed at upgrade")) << silent.error.message;
  auto wrong_key = failure_by(
      "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
      "AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n");
  EXPECT_FALSE(wrong_key.error.message.empty());
}

TEST(WebSocketClient, AnotherSubprotocolIsRefused) {
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    FramePeer peer(connection);
    peer.accept("Sec-WebSocket-Protocol: chat\r\n");
    connection.wait_for_close();
  });
  auto loop = *link::EventLoop::start();
  auto failure = failure_of(connect_socket(*loop, server.port()));
  EXPECT_TRUE(says(failure.error.message, "subprotocol chat")) << failure.error.message;
}

TEST(WebSocketClient, NobodyListens) {
  std::uint16_t port = 0;
  {
    port = ScriptedServer([](auto&, int) {}).port();
  }
  auto loop = *link::EventLoop::start();
  auto failure = failure_of(connect_socket(*loop, port));
  EXPECT_EQ(failure.error.code, ErrorCode::kConnectionError);
  EXPECT_EQ(failure.http_status, 0);
  EXPECT_TRUE(says(failure.error.message, "failed at connect: Connection refused"))
      << failure.error.message;
}

TEST(WebSocketClient, TheClosingCodeIsTold) {
  Framed peer([](FramePeer& server) {
    server.send(0x88, "\x03\xE9going home");
    server.read();
  });
  auto why = peer.end();
  EXPECT_EQ(why.code, ErrorCode::kConnectionError);
  EXPECT_TRUE(says(why.message, "with code 1001 (going home)")) << why.message;
  Sent late;
  peer.connection->send(late.message("{}"));
  EXPECT_TRUE(late.outcome().error);
}

TEST(WebSocketClient, APeerThatHangsUpIsReported) {
  Framed peer([](FramePeer&) {});
  EXPECT_TRUE(says(peer.end().message, "disconnected without the closing handshake"));
}

/// What the client says when the server's frame is bad.
std::pair<core::Error, Frame> verdict_on(const std::function<void(FramePeer&)>& frame) {
  std::promise<Frame> said;
  WebSocketOptions options;
  options.max_message = 1000;
  Framed peer(
      [&](FramePeer& server) {
        frame(server);
        said.set_value(server.read());
        server.send(0x88, "\x03\xE8");
      },
      options);
  return {peer.end(), said.get_future().get()};
}

TEST(WebSocketClient, BadMessagesCloseTheConnection) {
  auto [binary, binary_close] = verdict_on([](FramePeer& server) { server.send(0x82, "{}"); });
  EXPECT_EQ(binary.code, ErrorCode::kInvalidReply);
  EXPECT_EQ(binary_close.close_code(), 1003);
  auto [large, large_close] =
      verdict_on([](FramePeer& server) { server.send(0x81, std::string(1001, 'x')); });
  EXPECT_TRUE(says(large.message, "larger than 1000 bytes")) << large.message;
  EXPECT_EQ(large_close.close_code(), 1009);
  auto [in_parts, parts_close] = verdict_on([](FramePeer& server) {
    server.send(0x01, std::string(600, 'x'));
    server.send(0x80, std::string(600, 'x'));
  });
  EXPECT_TRUE(says(in_parts.message, "larger than 1000 bytes")) << in_parts.message;
  auto [text, text_close] = verdict_on([](FramePeer& server) { server.send(0x81, "\xC3\x28"); });
  EXPECT_EQ(text_close.close_code(), 1007);
  auto [reserved, reserved_close] = verdict_on([](FramePeer& server) { server.send(0xC1, "x"); });
  EXPECT_EQ(reserved_close.close_code(), 1002);
}

TEST(WebSocketClient, SilentPeersArePingedThenDropped) {
  WebSocketOptions options;
  options.idle_timeout = milliseconds(200);
  std::promise<Frame> first;
  Framed peer(
      [&](FramePeer& server) {
        first.set_value(server.read());
        server.wait_for_end();
      },
      options);
  EXPECT_EQ(first.get_future().get().head, 0x89);
  auto why = peer.end();
  EXPECT_TRUE(says(why.message, "no sign of life for 200 ms")) << why.message;
}

TEST(WebSocketClient, APauseIsNoSilence) {
  WebSocketOptions options;
  options.idle_timeout = milliseconds(50);
  std::promise<void> go_on;
  ScriptedServer server([&](ScriptedServer::Connection& raw, int) {
    FramePeer peer(raw);
    peer.accept();
    go_on.get_future().wait();  // for so long it would not answer pings
    peer.send(0x81, "1");
    peer.answer_close();
  });
  auto loop = *link::EventLoop::start();
  auto outcome = connect_socket(*loop, server.port(), options);
  auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
  auto receiver = std::make_shared<Collector>();
  connection->set_reading(false);
  connection->start(receiver);
  std::promise<void> never;
  never.get_future().wait_for(milliseconds(200));
  EXPECT_FALSE(receiver->is_closed());
  go_on.set_value();
  connection->set_reading(true);
  EXPECT_EQ(receiver->texts(1), "1|");
}

TEST(WebSocketClient, ClosingSendsWhatWaits) {
  std::promise<std::vector<Frame>> seen;
  Framed peer([&](FramePeer& server) {
    std::vector<Frame> frames;
    do {
      frames.push_back(server.read());
    } while (frames.back().head == 0x81);
    seen.set_value(frames);
    server.send(0x88, "\x03\xE8");
  });
  for (int i = 0; i < 100; ++i) {
    peer.connection->send({{std::string(std::to_string(i)), {}}});
  }
  peer.connection->close();
  EXPECT_EQ(peer.end().code, ErrorCode::kShuttingDown);
  auto frames = seen.get_future().get();
  ASSERT_EQ(frames.size(), 101U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(frames[i].payload, std::to_string(i));
  EXPECT_EQ(frames[100].close_code(), 1000);
}

TEST(WebSocketClient, ClosingDoesNotWaitForADeafPeer) {
  WebSocketOptions options;
  options.close_timeout = milliseconds(50);
  Framed peer([](FramePeer& server) { server.wait_for_end(); }, options);
  peer.connection = nullptr;
  EXPECT_EQ(peer.end().code, ErrorCode::kShuttingDown);
}

TEST(WebSocketClient, APeerThatDoesNotReadIsDropped) {
  WebSocketOptions options;
  options.max_waiting = 1'000'000;
  std::promise<void> is_over;
  Framed peer([&](FramePeer&) { is_over.get_future().wait(); }, options);
  auto block = std::make_shared<const std::string>(100'000, 'x');
  Sent last;
  for (int i = 0; i < 200 && !peer.receiver->is_closed(); ++i) peer.connection->send({{block, {}}});
  peer.connection->send(last.message("{}"));
  auto why = peer.end();
  EXPECT_TRUE(says(why.message, "does not read")) << why.message;
  EXPECT_TRUE(last.outcome().error);
  is_over.set_value();
}

TEST(WebSocketClient, ManyThreadsMaySend) {
  std::promise<std::size_t> count;
  WebSocketOptions options;
  options.close_timeout =
      std::chrono::minutes(1);  // for what is still to be sent, on a busy machine
  Framed peer(
      [&](FramePeer& server) {
        std::size_t seen = 0;
        while (server.read().head == 0x81) ++seen;
        count.set_value(seen);
      },
      options);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          peer.connection->send({{std::string("{}"), {}}});
        }
      });
    }
  }
  peer.connection->close();
  EXPECT_EQ(count.get_future().get(), 2000U);
}

TEST(WebSocketClient, ManyComeAndGo) {
  auto loop = *link::EventLoop::start();
  std::vector<std::shared_ptr<Collector>> receivers;
  ScriptedServer server([](ScriptedServer::Connection& connection, int) {
    FramePeer peer(connection);
    if (peer.accept()) peer.answer_close();
  });
  for (int i = 0; i < 200; ++i) {
    auto outcome = connect_socket(*loop, server.port());
    auto connection = std::get<std::shared_ptr<link::MessageConnection>>(outcome);
    receivers.push_back(std::make_shared<Collector>());
    connection->start(receivers.back());
  }
  for (auto& receiver : receivers) {
    EXPECT_EQ(receiver->wait_closed().code, ErrorCode::kShuttingDown);
  }
}

}  // namespace
}  // namespace league::transport::client
