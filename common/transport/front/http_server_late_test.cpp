// Answers that come later, peers that do not read, and the end of a server.
#include "common/transport/front/http_server.h"

#include "tests/support/memory/server_testing.h"

namespace league::transport::front {
namespace {

using namespace memory;  // the vocabulary of these tests

/// Keeps the slots for the test to answer.
struct Parking {
  void operator()(link::Inbound, link::ReplySlot reply) {
    std::lock_guard lock(mutex);
    slots.push_back(std::move(reply));
  }
  std::size_t size() {
    std::lock_guard lock(mutex);
    return slots.size();
  }
  std::mutex mutex;
  std::vector<link::ReplySlot> slots;
};

link::OutboundReply late_reply(std::string bytes, std::function<void()> after_sent = nullptr) {
  link::OutboundReply reply;
  reply.bytes = std::move(bytes);
  reply.after_sent = std::move(after_sent);
  return reply;
}

TEST(HttpServer, AnswersLaterWithoutHoldingAThread) {
  Parking parking;
  memory::Served served([&](link::Inbound message, link::ReplySlot reply) {
    parking(std::move(message), std::move(reply));
  });
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(served.port()).send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 20; }));
  std::atomic<int> sent = 0;
  for (auto& slot : parking.slots) slot.send(late_reply("[1]", [&] { ++sent; }));
  for (auto& client : clients) EXPECT_TRUE(client.read_response().ends_with("[1]"));
  EXPECT_TRUE(eventually([&] { return sent == 20; }));
}

TEST(HttpServer, SurvivesClientsThatLeaveBeforeALateAnswer) {
  Parking parking;
  std::atomic<int> sent = 0;
  memory::Served served([&](link::Inbound message, link::ReplySlot reply) {
    parking(std::move(message), std::move(reply));
  });
  for (int i = 0; i < 20; ++i) RawClient(served.port()).send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 20; }));
  for (auto& slot : parking.slots) slot.send(late_reply("[1]", [&] { ++sent; }));
  EXPECT_TRUE(eventually([&] { return sent == 20; }));
}

TEST(HttpServer, TellsWhoWatchesThatTheirPeerHasGone) {
  Parking parking;
  std::atomic<int> gone = 0;
  memory::Served served([&](link::Inbound message, link::ReplySlot reply) {
    message.watch->when_gone([&] { ++gone; });
    parking(std::move(message), std::move(reply));
  });
  RawClient stays(served.port());
  stays.send(post("{}"));
  for (int i = 0; i < 20; ++i) RawClient(served.port()).send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 21; }));
  EXPECT_TRUE(eventually([&] { return gone == 20; })) << gone;
  for (auto& slot : parking.slots) slot.send(late_reply("[1]"));
  EXPECT_TRUE(stays.read_response().ends_with("[1]"));
  stays.send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 22; })) << "its connection is still good";
  parking.slots.back().send(late_reply("[2]"));
  EXPECT_TRUE(stays.read_response().ends_with("[2]"));
  EXPECT_EQ(gone, 20);
}

TEST(HttpServer, SurvivesAnswersAfterItsEnd) {
  Parking parking;
  std::atomic<int> sent = 0;
  {
    http::HttpServerOptions options = memory::Served::quick();
    options.stop_grace = milliseconds(20);
    memory::Served served(
        [&](link::Inbound message, link::ReplySlot reply) {
          parking(std::move(message), std::move(reply));
        },
        options);
    RawClient client(served.port());
    client.send(post("{}"));
    ASSERT_TRUE(eventually([&] { return parking.size() == 1; }));
  }
  parking.slots[0].send(late_reply("[1]", [&] { ++sent; }));
  EXPECT_EQ(sent, 1);
}

TEST(HttpServer, DropsPeersThatDoNotRead) {
  std::string large(8 * 1024 * 1024, 'x');
  std::atomic<int> sent = 0;
  memory::Served served([&](const link::Inbound& message, link::ReplySlot reply) {
    bool is_large = message.bytes == "[]";
    reply.send(late_reply(is_large ? large : "{}", [&] { ++sent; }));
  });
  RawClient deaf(served.port());
  deaf.send(post("[]"));
  EXPECT_EQ(memory::status_for(served, post("{}")), 200);
  EXPECT_TRUE(eventually([&] { return sent == 2; }));
}

TEST(HttpServer, SendsLargeAnswersInPieces) {
  std::string large(4 * 1024 * 1024, 'x');
  memory::Served served(
      [&](const link::Inbound&, link::ReplySlot reply) { reply.send(late_reply(large)); });
  RawClient client(served.port());
  EXPECT_TRUE(client.ask(post("{}")).ends_with(large));
}

TEST(HttpServer, ClosesIdleConnections) {
  http::HttpServerOptions options = memory::Served::quick();
  options.limits.idle_timeout = milliseconds(500);
  memory::Served served(echo, options);
  RawClient client(served.port());
  ASSERT_EQ(status_of(client.ask(post("{}"))), 200);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpServer, StopsSoonWithConnectionsOfEveryKind) {
  Parking parking;
  memory::Served served([&](link::Inbound message, link::ReplySlot reply) {
    parking(std::move(message), std::move(reply));
  });
  RawClient idle(served.port());
  RawClient half(served.port());
  half.send("POST /mcp HT");
  RawClient waiting(served.port());
  waiting.send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 1; }));
  auto begun = std::chrono::steady_clock::now();
  served.server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(2500));
  EXPECT_EQ(idle.read_all(), "");
}

TEST(HttpServer, FinishesRequestsInWorkBeforeItStops) {
  Parking parking;
  http::HttpServerOptions options = memory::Served::quick();
  options.stop_grace = milliseconds(10'000);
  memory::Served served(
      [&](link::Inbound message, link::ReplySlot reply) {
        parking(std::move(message), std::move(reply));
      },
      options);
  RawClient client(served.port());
  client.send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 1; }));
  std::jthread stopper([&] { served.server->stop(); });
  ASSERT_TRUE(eventually([&] { return !RawClient(served.port()).send("x"); }));
  parking.slots[0].send(late_reply("[7]"));
  EXPECT_TRUE(client.read_response().ends_with("[7]"));
}

TEST(HttpServer, SeveralThatBeginToStopTogetherShareTheGrace) {
  constexpr auto kGrace = milliseconds(400);
  Parking parking;
  http::HttpServerOptions options = memory::Served::quick();
  options.stop_grace = kGrace;
  auto park = [&](link::Inbound message, link::ReplySlot reply) {
    parking(std::move(message), std::move(reply));
  };
  memory::Served one(park, options);
  memory::Served other(park, options);
  RawClient client_of_one(one.port());
  RawClient client_of_other(other.port());
  client_of_one.send(post("{}"));
  client_of_other.send(post("{}"));
  ASSERT_TRUE(eventually([&] { return parking.size() == 2; }));
  one.server->begin_stop();
  other.server->begin_stop();
  one.server->stop();
  auto before = std::chrono::steady_clock::now();
  other.server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, kGrace / 2);
}

TEST(HttpServer, ServesManyPortsWithOneRuntime) {
  memory::Served served;
  std::vector<std::unique_ptr<HttpServer>> servers;
  for (int i = 0; i < 300; ++i) {
    auto server = HttpServer::start(*served.runtime, {}, served.handler);
    ASSERT_TRUE(server) << server.error().message;
    servers.push_back(*std::move(server));
  }
  for (const auto& server : servers) {
    EXPECT_EQ(status_of(RawClient(server->port()).ask(post("{}"))), 200);
  }
  http::HttpServerOptions taken;
  taken.port = servers[0]->port();
  auto refused = HttpServer::start(*served.runtime, taken, served.handler);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(std::to_string(taken.port)), std::string::npos);
}

}  // namespace
}  // namespace league::transport::front
