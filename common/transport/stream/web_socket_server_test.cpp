#include <future>

#include "common/transport/stream/web_socket_testing.h"

namespace league::transport::stream {
namespace {

TEST(WebSocketServer, AnswersTheHandshake) {
  StreamServer served;
  WsClient client(served.port(), "Sec-WebSocket-Protocol: other, mcp\r\n");
  EXPECT_TRUE(client.head.starts_with("HTTP/1.1 101 "));
  EXPECT_NE(client.head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            std::string::npos);
  EXPECT_NE(client.head.find("Sec-WebSocket-Protocol: mcp\r\n"), std::string::npos);
  WsClient plain(served.port());
  EXPECT_EQ(plain.head.find("Sec-WebSocket-Protocol"), std::string::npos);
}

TEST(WebSocketServer, AnswersMessagesInItsContext) {
  std::promise<rpc::MessageContext> seen;
  StreamServer served(stream_options(), [&](link::Inbound message, link::ReplySlot reply) {
    seen.set_value(message.context);
    league::testing::echo(std::move(message), std::move(reply));
  });
  WsClient client(served.port());
  client.say("{\"id\":1}");
  EXPECT_EQ(client.next_text(), "{\"id\":1}");
  auto context = seen.get_future().get();
  EXPECT_EQ(context.transport.type, rpc::TransportType::kWebSocket);
  EXPECT_EQ(context.direction, rpc::MessageDirection::kClientToServer);
  EXPECT_TRUE(context.transport.connection->remote_address.starts_with("127.0.0.1:"));
  const auto* frame = std::get_if<rpc::WebSocketMetadata>(&context.transport.metadata);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(*frame, rpc::WebSocketMetadata{});
}

TEST(WebSocketServer, KeepsWhatComesBehindTheHandshake) {
  StreamServer served;
  StreamClient client(served.port());
  std::string frames;
  for (int i = 0; i < 300; ++i) frames += ws_frame("{\"n\":" + std::to_string(i) + "}");
  client.send(upgrade_request() + frames);
  client.read_until("{\"n\":299}");
}

TEST(WebSocketServer, JoinsFragments) {
  StreamServer served;
  WsClient client(served.port());
  client.send(ws_frame("{\"a\"", {.is_final = false}));
  client.send(ws_frame("hi", {.opcode = 9}));
  client.send(ws_frame(":1}", {.opcode = 0}));
  ServerFrame pong = client.next_frame();
  EXPECT_EQ(pong.opcode, 10);
  EXPECT_EQ(pong.payload, "hi");
  EXPECT_EQ(client.next_text(), "{\"a\":1}");
}

TEST(WebSocketServer, ClosesWithTheReasonsOfTheStandard) {
  auto options = stream_options();
  options.limits.max_body = 1000;
  StreamServer served(options);
  struct Case {
    std::string bytes;
    int code;
  };
  const Case cases[] = {
      {ws_frame("x", {.opcode = 2}), 1003},
      {ws_frame("\xff\xfe"), 1007},
      {ws_frame(std::string(1001, 'x')), 1009},
      {ws_frame(std::string(600, 'x'), {.is_final = false}) +
           ws_frame(std::string(600, 'x'), {.opcode = 0}),
       1009},
      {ws_frame("x", {.is_masked = false}), 1002},
      {ws_frame("x", {.opcode = 3}), 1002},
      {ws_frame("x", {.opcode = 0}), 1002},
      {ws_frame(close_payload(1000), {.opcode = 8}), 1000},
      {ws_frame(close_payload(1005), {.opcode = 8}), 1002},
  };
  for (const Case& one : cases) {
    WsClient client(served.port());
    client.send(one.bytes);
    EXPECT_EQ(client.next_frame().close_code(), one.code);
    client.send(ws_frame(close_payload(one.code), {.opcode = 8}));
    client.read_all();
  }
  EXPECT_TRUE(eventually([&] { return served.handler.closed_count() == std::size(cases); }));
  EXPECT_TRUE(eventually([&] { return served.server->stream_counts().open == 0; }));
}

TEST(WebSocketServer, RefusesWrongHandshakes) {
  StreamServer served;
  auto status = [&](const std::string& bytes) {
    return status_of(league::testing::RawClient(served.port()).ask(bytes));
  };
  std::string good = upgrade_request();
  auto without = [&](std::string_view text, std::string_view by) {
    std::string request = good;
    return request.replace(request.find(text), text.size(), by);
  };
  EXPECT_EQ(status(without("Version: 13", "Version: 8")), 426);
  EXPECT_EQ(status(without("Sec-WebSocket-Version: 13\r\n", "")), 426);
  EXPECT_EQ(status(without("keep-alive, Upgrade", "keep-alive")), 400);
  EXPECT_EQ(status(upgrade_request("", "short")), 400);
  EXPECT_EQ(status(upgrade_request("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")), 400);
  EXPECT_EQ(status(upgrade_request("Origin: http://evil.example\r\n")), 403);
  EXPECT_EQ(status(without("Host: localhost", "Host: evil.example")), 403);
  EXPECT_EQ(status(upgrade_request("Content-Length: 2\r\n") + "{}"), 400);
  EXPECT_EQ(status(without("HTTP/1.1", "HTTP/1.0")), 400);
  EXPECT_EQ(status(upgrade_request("X: " + std::string(20'000, 'x') + "\r\n")), 431);
  EXPECT_EQ(served.server->stream_counts().opened, 0U);
}

TEST(WebSocketServer, PingsSilentPeersAndDropsDeadOnes) {
  auto options = stream_options();
  options.streams.idle_timeout = milliseconds(100);
  StreamServer served(options);
  WsClient client(served.port());
  EXPECT_EQ(client.next_frame().opcode, 9);
  client.read_all();  // no pong: the connection ends
  EXPECT_TRUE(eventually([&] { return served.handler.closed_count() == 1; }));
}

TEST(WebSocketServer, PushesToItsPeers) {
  std::promise<std::shared_ptr<link::PeerChannel>> opened;
  StreamServer served(stream_options(), [&](link::Inbound message, link::ReplySlot reply) {
    opened.set_value(message.channel);
    league::testing::echo(std::move(message), std::move(reply));
  });
  WsClient client(served.port());
  client.say("{}");
  client.next_text();
  auto channel = opened.get_future().get();
  EXPECT_TRUE(channel->push(shared("{\"n\":1}")));
  EXPECT_EQ(client.next_text(), "{\"n\":1}");
  std::string large = "\"" + std::string(200'000, 'x') + "\"";
  EXPECT_TRUE(channel->push(shared(large)));
  EXPECT_EQ(client.next_text(), large);
  channel->close();
  EXPECT_EQ(client.next_frame().close_code(), 1000);
  client.send(ws_frame(close_payload(1000), {.opcode = 8}));
  EXPECT_TRUE(eventually([&] { return served.handler.closed(channel->id()) == 1; }));
  EXPECT_FALSE(channel->push(shared("{}")));
}

TEST(WebSocketServer, DropsWhoDoesNotRead) {
  std::promise<std::shared_ptr<link::PeerChannel>> opened;
  auto options = stream_options();
  options.streams.max_queue = 100'000;
  options.limits.linger_timeout = milliseconds(50);
  StreamServer served(options, [&](link::Inbound message, link::ReplySlot reply) {
    opened.set_value(message.channel);
    league::testing::echo(std::move(message), std::move(reply));
  });
  WsClient client(served.port());
  client.say("{}");
  auto channel = opened.get_future().get();
  auto bytes = shared("\"" + std::string(50'000, 'x') + "\"");
  for (int i = 0; i < 2000 && channel->push(bytes); ++i) {
  }
  EXPECT_TRUE(eventually([&] { return served.handler.closed(channel->id()) == 1; }));
  EXPECT_EQ(served.server->stream_counts().dropped, 1U);
}

TEST(WebSocketServer, ReadsNoMoreThanItCanAnswer) {
  std::mutex mutex;
  std::vector<std::pair<link::Inbound, link::ReplySlot>> parked;
  auto options = stream_options();
  options.streams.max_in_work = 4;
  StreamServer served(options, [&](link::Inbound message, link::ReplySlot reply) {
    std::lock_guard lock(mutex);
    parked.emplace_back(std::move(message), std::move(reply));
  });
  WsClient client(served.port());
  for (int i = 0; i < 100; ++i) client.say(std::to_string(i));
  auto count = [&] {
    std::lock_guard lock(mutex);
    return parked.size();
  };
  int answered = 0;
  while (answered < 100) {
    ASSERT_TRUE(eventually([&] { return count() > 0; }));
    EXPECT_LE(count(), 4U);
    std::vector<std::pair<link::Inbound, link::ReplySlot>> now;
    {
      std::lock_guard lock(mutex);
      now.swap(parked);
    }
    for (auto& [message, reply] : now) league::testing::echo(std::move(message), std::move(reply));
    for (std::size_t i = 0; i < now.size(); ++i) {
      EXPECT_EQ(client.next_text(), std::to_string(answered++));
    }
  }
}

TEST(WebSocketServer, SaysGoodbyeWhenItStops) {
  StreamServer served;
  WsClient client(served.port());
  client.say("{}");
  client.next_text();
  std::thread stopping([&] { served.server->stop(); });
  EXPECT_EQ(client.next_frame().close_code(), 1001);
  client.send(ws_frame(close_payload(1001), {.opcode = 8}));
  client.read_all();
  stopping.join();
  EXPECT_EQ(served.handler.closed_count(), 1U);
}

TEST(WebSocketServer, DoesNotWaitForThoseWhoIgnoreGoodbyes) {
  StreamServer served;
  WsClient client(served.port());
  auto begun = std::chrono::steady_clock::now();
  served.server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(2000));
  EXPECT_EQ(served.handler.closed_count(), 1U);
}

}  // namespace
}  // namespace league::transport::stream
