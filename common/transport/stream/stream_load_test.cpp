// Many streams at once, and peers that mean harm.
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include "common/transport/stream/web_socket_testing.h"
#include "tests/support/sanitizers.h"

namespace league::transport::stream {
namespace {

using league::testing::post;
using league::testing::RawClient;

constexpr std::size_t kSpectators = league::testing::kHasSanitizer ? 300 : 2000;
constexpr milliseconds kCallLimit{league::testing::kHasSanitizer ? 500 : 50};
constexpr milliseconds kBroadcastLimit{1000};

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += entry.exists() ? 1 : 0;
  }
  return count;
}

/// Listeners of both kinds.
struct Audience {
  Audience()
      : served(stream_options(), [this](link::Inbound message, link::ReplySlot reply) {
          if (message.channel) add(message.channel);
          league::testing::echo(std::move(message), std::move(reply));
        }) {
    for (std::size_t i = 0; i < kSpectators; ++i) {
      streams.emplace_back(served.port(), listen_request());
      sockets.emplace_back(served.port());
      sockets.back().say("{}");
    }
    for (std::size_t i = 0; i < kSpectators; ++i) add(served.handler.channel(i));
    for (auto& stream : streams) stream.take_until("\r\n\r\n");
    for (auto& socket : sockets) EXPECT_EQ(socket.next_text(), "{}");
  }

  void add(std::shared_ptr<link::PeerChannel> channel) {
    std::lock_guard lock(mutex);
    channels.push_back(std::move(channel));
  }

  /// How many took it; the bytes are shared by all of them.
  std::size_t push(const std::string& text) {
    auto bytes = shared(text);
    std::lock_guard lock(mutex);
    return static_cast<std::size_t>(
        std::count_if(channels.begin(), channels.end(),
                      [&](const auto& channel) { return channel->push(bytes); }));
  }

  /// Tells everybody, and how long it took until the last has it.
  milliseconds tell(const std::string& text) {
    auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(push(text), streams.size() + sockets.size());
    for (auto& stream : streams) stream.take_until("data: " + text + "\n\n");
    for (auto& socket : sockets) EXPECT_EQ(socket.next_text(), text);
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun);
  }

  std::mutex mutex;
  std::vector<std::shared_ptr<link::PeerChannel>> channels;
  StreamServer served;
  std::vector<StreamClient> streams;
  std::vector<WsClient> sockets;
};

TEST(StreamLoad, ThousandsHearABroadcastAndHalfOfThemMayDie) {
  ASSERT_GE(link::raise_file_limit(), 4 * kSpectators + 200);
  Audience audience;
  auto all = audience.tell("{\"standings\":1}");
  RecordProperty("broadcast_ms", static_cast<int>(all.count()));
  EXPECT_LT(all, kBroadcastLimit);
  for (std::size_t i = 0; i < kSpectators / 2; ++i) {
    linger now{1, 0};  // the connection is reset, not closed
    ::setsockopt(audience.streams.back().fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::setsockopt(audience.sockets.back().fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    audience.streams.pop_back();
    audience.sockets.pop_back();
  }
  EXPECT_TRUE(eventually([&] { return audience.served.handler.closed_count() == kSpectators; }));
  audience.push("{\"standings\":2}");  // finds out who is gone
  for (auto& stream : audience.streams) stream.take_until("{\"standings\":2}\n\n");
  for (auto& socket : audience.sockets) EXPECT_EQ(socket.next_text(), "{\"standings\":2}");
  EXPECT_LT(audience.tell("{\"standings\":3}"), kBroadcastLimit);
}

TEST(StreamLoad, CallsStayFastBesideStreams) {
  StreamServer served;
  std::vector<StreamClient> streams;
  std::vector<StreamClient> idle;
  for (int i = 0; i < 40; ++i) streams.emplace_back(served.port(), listen_request());
  for (int i = 0; i < 200; ++i) idle.emplace_back(served.port());
  served.handler.channel(39);
  RawClient honest(served.port());
  std::vector<std::chrono::nanoseconds> times;
  for (int i = 0; i < 200; ++i) {
    auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(status_of(honest.ask(post("{}"))), 200);
    times.push_back(std::chrono::steady_clock::now() - begun);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[180], kCallLimit);  // some may meet a busy machine
}

TEST(StreamLoad, WhoConnectsAndVanishesLeavesNothing) {
  StreamServer served;
  RawClient(served.port()).ask(post("{}"));
  std::size_t before = open_descriptors();
  for (int i = 0; i < 300; ++i) {
    StreamClient(served.port(), listen_request());
    StreamClient(served.port(), upgrade_request());
    StreamClient(served.port(), get("/sse"));
    StreamClient(served.port(), upgrade_request().substr(0, 100));
    StreamClient(served.port(), upgrade_request() + ws_frame("{}").substr(0, 3));
  }
  EXPECT_TRUE(eventually([&] {
    return served.server->stream_counts().open == 0 && open_descriptors() <= before;
  })) << served.server->stream_counts().open
      << " streams, " << open_descriptors() << " descriptors, before " << before;
}

TEST(StreamLoad, StreamsCountAsConnections) {
  StreamHandler handler;
  auto runtime =
      *front::HttpRuntime::start({.max_connections = 3, .sweep_interval = milliseconds(10)});
  auto server = *front::HttpServer::start(*runtime, stream_options(), handler);
  StreamClient first(server->port(), listen_request());
  handler.channel(0);
  WsClient second(server->port());
  StreamClient third(server->port(), get("/sse"));
  third.read_until("\n\n");
  EXPECT_EQ(status_of(RawClient(server->port()).ask(post("{}"))), 503);
  first.close();
  EXPECT_TRUE(eventually([&] { return server->stream_counts().open == 2; }));
  EXPECT_EQ(status_of(RawClient(server->port()).ask(post("{}"))), 200);
}

TEST(StreamLoad, NothingBehindAStreamIsARequest) {
  std::atomic<int> calls = 0;
  StreamServer served(stream_options(), [&](link::Inbound message, link::ReplySlot reply) {
    ++calls;
    league::testing::echo(std::move(message), std::move(reply));
  });
  StreamClient pipelined(served.port(), listen_request() + post("{}"));
  StreamClient smuggled(
      served.port(),
      listen_request("Content-Length: " + std::to_string(post("{}").size()) + "\r\n") + post("{}"));
  auto first = served.handler.channel(0);
  auto second = served.handler.channel(1);
  EXPECT_TRUE(pipelined.send(post("{}")));
  first->push(shared("\"a\""));
  second->push(shared("\"a\""));
  pipelined.read_until("\"a\"");
  smuggled.read_until("\"a\"");
  EXPECT_EQ(calls, 0);
  StreamClient flood(served.port(), listen_request());
  auto third = served.handler.channel(2);
  std::string bytes(50'000, 'x');
  while (served.handler.closed(third->id()) == 0 && flood.send(bytes)) {
  }
  EXPECT_TRUE(eventually([&] { return served.handler.closed(third->id()) == 1; }));
}

TEST(StreamLoad, AWebSocketThatDripsHoldsNobodyUp) {
  StreamServer served;
  WsClient slow(served.port());
  std::string message = ws_frame("{\"slow\":1}");
  WsClient honest(served.port());
  for (char byte : message) {
    slow.send(std::string(1, byte));
    honest.say("{}");
    EXPECT_EQ(honest.next_text(), "{}");
  }
  EXPECT_EQ(slow.next_text(), "{\"slow\":1}");
}

TEST(StreamLoad, StopsWhileClientsArrive) {
  for (int round = 0; round < 20; ++round) {
    StreamServer served;
    std::atomic<bool> is_over = false;
    std::vector<std::jthread> arriving;
    for (int i = 0; i < 3; ++i) {
      arriving.emplace_back([&, port = served.port(), i] {
        const std::string requests[] = {listen_request(), upgrade_request(), get("/sse")};
        while (!is_over) {
          auto socket = link::connect_to("127.0.0.1", port,
                                         {std::chrono::steady_clock::now() + milliseconds(500)});
          if (!socket) return;
          std::string_view bytes = requests[i];
          ::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        }
      });
    }
    EXPECT_TRUE(eventually([&] { return served.server->stream_counts().opened > 5; }));
    served.server->stop();
    std::size_t closed = served.handler.closed_count();
    EXPECT_EQ(closed, served.server->stream_counts().opened);
    EXPECT_EQ(served.server->stream_counts().open, 0U);
    is_over = true;
  }
}

}  // namespace
}  // namespace league::transport::stream
