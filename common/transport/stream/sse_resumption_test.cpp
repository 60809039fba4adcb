#include <future>

#include "common/transport/stream/streams_testing.h"

namespace league::transport::stream {
namespace {

using league::testing::post;
using league::testing::RawClient;

/// The id of the last event with one in `text`.
std::string last_id(const std::string& text) {
  std::size_t begin = text.rfind("id: ");
  if (begin == std::string::npos) return {};
  begin += 4;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string come_back(const std::string& event_id, std::string_view session = "s1") {
  return listen_request("Last-Event-ID: " + event_id +
                        "\r\nMcp-Session-Id: " + std::string(session) + "\r\n");
}

constexpr std::string_view kSession = "Mcp-Session-Id: s1\r\n";

struct ResumableServer : StreamServer {
  explicit ResumableServer(http::HttpServerOptions options = short_lived())
      : StreamServer(options) {
    handler.options = {.is_resumable = true, .retry = milliseconds(500)};
  }
  static http::HttpServerOptions short_lived() {
    auto options = stream_options();
    options.streams.stored_for = milliseconds(5000);
    return options;
  }
};

TEST(SseResumption, BeginsWithAnIdWithoutData) {
  ResumableServer served;
  StreamClient client(served.port(), listen_request(kSession));
  std::string begin = client.read_until("data: \n\n");
  std::string id = last_id(begin);
  EXPECT_EQ(id, served.handler.channel(0)->id() + "-0");
  EXPECT_TRUE(begin.ends_with("\r\n\r\nid: " + id + "\nevent: message\nretry: 500\ndata: \n\n"))
      << begin;
}

TEST(SseResumption, ContinuesWhereItBroke) {
  ResumableServer served;
  StreamClient first(served.port(), listen_request(kSession));
  auto channel = served.handler.channel(0);
  channel->push(shared("\"one\""));
  channel->push(shared("\"two\""));
  std::string begin = first.read_until("\"two\"\n\n");
  std::string seen = last_id(begin.substr(0, begin.find("\"one\"")));
  first.close();
  EXPECT_TRUE(eventually([&] { return served.server->stream_counts().open == 0; }));
  EXPECT_TRUE(channel->push(shared("\"three\"")));
  EXPECT_TRUE(channel->is_open());
  EXPECT_EQ(served.handler.closed(channel->id()), 0);

  StreamClient second(served.port(), come_back(seen));
  std::string rest = second.read_until("\"three\"\n\n");
  EXPECT_EQ(rest.find("\"one\""), std::string::npos);
  EXPECT_LT(rest.find("\"two\""), rest.find("\"three\""));
  channel->push(shared("\"four\""));
  second.read_until("\"four\"\n\n");
  EXPECT_EQ(served.server->stream_counts().resumed, 1U);
  EXPECT_EQ(served.handler.channel_count(), 1U);
}

TEST(SseResumption, IsForTheSameSessionOnly) {
  ResumableServer served;
  StreamClient first(served.port(), listen_request(kSession));
  std::string id = last_id(first.read_until("data: \n\n"));
  StreamClient thief(served.port(), come_back(id, "s2"));
  served.handler.channel(1);  // the handler was asked for a new one
  EXPECT_EQ(served.server->stream_counts().resumed, 0U);
  for (std::string unknown : {"x", "", "-", "00-0", "18446744073709551616"}) {
    StreamClient other(served.port(), come_back(unknown));
    other.read_until("data: \n\n");
  }
  EXPECT_EQ(served.server->stream_counts().resumed, 0U);
}

TEST(SseResumption, ASecondConnectionTakesTheStreamOver) {
  ResumableServer served;
  StreamClient first(served.port(), listen_request(kSession));
  std::string id = last_id(first.read_until("data: \n\n"));
  StreamClient second(served.port(), come_back(id));
  second.read_until("\r\n\r\n");
  first.read_all();
  auto channel = served.handler.channel(0);
  EXPECT_TRUE(eventually([&] { return served.server->stream_counts().open == 1; }));
  EXPECT_TRUE(channel->push(shared("\"one\"")));
  second.read_until("\"one\"\n\n");
  EXPECT_EQ(served.handler.closed(channel->id()), 0);
}

TEST(SseResumption, TheAnswerOfAPostIsGotLater) {
  std::promise<std::pair<link::Inbound, link::ReplySlot>> parked;
  StreamServer served(stream_options(), [&](link::Inbound message, link::ReplySlot reply) {
    message.channel->configure({.is_resumable = true});
    message.channel->push(shared("\"progress\""));
    parked.set_value({std::move(message), std::move(reply)});
  });
  StreamClient first(served.port(), post("{\"id\":1}", std::string(kBoth) + std::string(kSession)));
  std::string id = last_id(first.read_until("\"progress\"\n\n"));
  first.close();
  auto [message, reply] = parked.get_future().get();
  EXPECT_TRUE(eventually([&] { return served.server->stream_counts().open == 0; }));
  league::testing::echo(std::move(message), std::move(reply));
  EXPECT_TRUE(eventually([&] { return served.handler.closed_count() == 1; }));
  // Twice: the end of this connection may be lost, too.
  for (int i = 0; i < 2; ++i) {
    StreamClient second(served.port(), come_back(id));
    EXPECT_TRUE(second.read_all().ends_with("event: message\ndata: {\"id\":1}\n\n"));
  }
  EXPECT_EQ(served.handler.closed_count(), 1U);
}

TEST(SseResumption, GivesUpWhoDoesNotComeBack) {
  auto options = stream_options();
  options.streams.stored_for = milliseconds(60);
  ResumableServer served(options);
  StreamClient first(served.port(), listen_request(kSession));
  auto channel = served.handler.channel(0);
  channel->push(shared("\"one\""));
  first.read_until("\"one\"");
  first.close();
  EXPECT_TRUE(eventually([&] { return served.handler.closed(channel->id()) == 1; }));
  EXPECT_EQ(channel->close_reason(), "the client did not come back");
  EXPECT_FALSE(channel->push(shared("\"two\"")));
  EXPECT_TRUE(eventually([&] {
    auto counts = served.server->stream_counts();
    return counts.resumable == 0 && counts.stored_bytes == 0;
  }));
}

TEST(SseResumption, KeepsABoundedNumberOfBytes) {
  auto options = stream_options();
  options.streams.max_stored = 10'000;
  options.streams.max_stored_in_total = 15'000;
  ResumableServer served(options);
  StreamClient one(served.port(), listen_request(kSession));
  auto first = served.handler.channel(0);
  StreamClient two(served.port(), listen_request(kSession));
  auto second = served.handler.channel(1);
  auto bytes = shared("\"" + std::string(1000, 'x') + "\"");
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(first->push(bytes));
    EXPECT_TRUE(second->push(bytes));
    EXPECT_LE(served.server->stream_counts().stored_bytes, 16'500U);
  }
  std::string id = last_id(one.read_until("data: \n\n"));
  StreamClient back(served.port(), come_back(first->id() + "-0"));
  std::string rest = back.read_until("-100\nevent: message\ndata: \"");
  EXPECT_EQ(rest.find("-80\n"), std::string::npos);
}

TEST(SseResumption, KeepsABoundedNumberOfStreams) {
  auto options = stream_options();
  options.streams.max_away_streams = 3;
  options.streams.keep_alive = milliseconds(40);
  ResumableServer served(options);
  for (int i = 0; i < 10; ++i) {
    StreamClient(served.port(), listen_request(kSession)).read_until("data: \n\n");
  }
  EXPECT_TRUE(eventually([&] {
    auto counts = served.server->stream_counts();
    return served.handler.closed_count() == 7 && counts.resumable == 6;
  }));
}

TEST(SseResumption, StopsWithClientsAway) {
  ResumableServer served;
  StreamClient first(served.port(), listen_request(kSession));
  auto channel = served.handler.channel(0);
  first.read_until("data: \n\n");
  first.close();
  EXPECT_TRUE(eventually([&] { return served.server->stream_counts().open == 0; }));
  served.server->stop();
  EXPECT_EQ(served.handler.closed(channel->id()), 1);
}

}  // namespace
}  // namespace league::transport::stream
