#include <future>

#include "common/transport/stream/streams_testing.h"

namespace league::transport::stream {
namespace {

using league::testing::post;
using league::testing::RawClient;

TEST(SseServer, AnswersAsAnEventWhereOnlyThatIsAccepted) {
  StreamServer served;
  RawClient client(served.port());
  for (int i = 0; i < 3; ++i) {
    std::string response = client.ask(post("{\"id\":1}", "Accept: text/event-stream\r\n"));
    EXPECT_EQ(status_of(response), 200);
    EXPECT_NE(response.find("Content-Type: text/event-stream"), std::string::npos);
    EXPECT_TRUE(response.ends_with("\r\n\r\nevent: message\ndata: {\"id\":1}\n\n")) << response;
  }
}

TEST(SseServer, PrefersJsonUnlessTold) {
  StreamServer served;
  EXPECT_TRUE(RawClient(served.port()).ask(post("{}", kBoth)).ends_with("\r\n\r\n{}"));
  EXPECT_TRUE(RawClient(served.port()).ask(post("{}", "Accept: */*\r\n")).ends_with("\r\n\r\n{}"));
  auto options = stream_options();
  options.prefers_event_stream = true;
  StreamServer other(options);
  EXPECT_TRUE(RawClient(other.port()).ask(post("{}", kBoth)).ends_with("data: {}\n\n"));
  EXPECT_TRUE(RawClient(other.port()).ask(post("{}")).ends_with("\r\n\r\n{}"));
  std::string unknown = RawClient(other.port()).ask(post("{}", "Accept: text/html\r\n"));
  EXPECT_EQ(status_of(unknown), 406);
  EXPECT_NE(unknown.find(R"("error":{"code":-32600)"), std::string::npos);
}

TEST(SseServer, APushMakesTheAnswerAStream) {
  StreamServer served(stream_options(), [](link::Inbound message, link::ReplySlot reply) {
    ASSERT_NE(message.channel, nullptr);
    EXPECT_TRUE(message.channel->push(shared("{\"progress\":1}")));
    EXPECT_TRUE(message.channel->push(shared("{\"progress\":2}")));
    league::testing::echo(std::move(message), std::move(reply));
  });
  StreamClient client(served.port(), post("{\"id\":7}", kBoth));
  std::string all = client.read_all();
  EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
  EXPECT_TRUE(
      all.ends_with("\r\n\r\nevent: message\ndata: {\"progress\":1}\n\n"
                    "event: message\ndata: {\"progress\":2}\n\n"
                    "event: message\ndata: {\"id\":7}\n\n"))
      << all;
  EXPECT_TRUE(eventually([&] { return served.handler.closed_count() == 1; }));
}

TEST(SseServer, APushMayComeLaterFromAnotherThread) {
  std::promise<std::pair<link::Inbound, link::ReplySlot>> parked;
  StreamServer served(stream_options(), [&](link::Inbound message, link::ReplySlot reply) {
    parked.set_value({std::move(message), std::move(reply)});
  });
  StreamClient client(served.port(), post("{\"id\":7}", kBoth));
  auto [message, reply] = parked.get_future().get();
  EXPECT_TRUE(message.channel->push(shared("{\"progress\":1}")));
  client.read_until("{\"progress\":1}\n\n");
  EXPECT_TRUE(message.channel->push(shared("{\"progress\":2}")));
  client.read_until("{\"progress\":2}\n\n");
  std::promise<void> sent;
  link::OutboundReply answer;
  answer.bytes = message.bytes;
  answer.after_sent = [&] { sent.set_value(); };
  reply.send(std::move(answer));
  EXPECT_TRUE(client.read_all().ends_with("data: {\"id\":7}\n\n"));
  sent.get_future().wait();
  EXPECT_FALSE(message.channel->push(shared("{}")));
  EXPECT_FALSE(message.channel->is_open());
}

TEST(SseServer, WhoTakesNoStreamHasNoChannel) {
  StreamServer served(stream_options(), [](link::Inbound message, link::ReplySlot reply) {
    EXPECT_EQ(message.channel, nullptr);
    league::testing::echo(std::move(message), std::move(reply));
  });
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post("{}"))), 200);
}

TEST(SseServer, ListensAndIsToldWhenItEnds) {
  StreamServer served;
  StreamClient client(served.port(), listen_request());
  auto channel = served.handler.channel(0);
  EXPECT_TRUE(channel->push(shared("{\"n\":1}")));
  client.read_until("\r\n\r\nevent: message\ndata: {\"n\":1}\n\n");
  client.close();
  EXPECT_TRUE(eventually([&] { return served.handler.closed(channel->id()) == 1; }));
  EXPECT_FALSE(channel->push(shared("{}")));
  EXPECT_EQ(channel->close_reason(), "the peer closed the connection");
  EXPECT_EQ(served.server->stream_counts().open, 0U);
}

TEST(SseServer, RefusesStreams) {
  StreamServer served;
  served.handler.refusal = link::StreamRefusal{409, "there is one already: \"a\""};
  std::string response = RawClient(served.port()).ask(listen_request());
  EXPECT_EQ(status_of(response), 409);
  EXPECT_NE(response.find(R"(there is one already: \"a\"")"), std::string::npos);
  std::string plain = RawClient(served.port()).ask(get("/mcp"));
  EXPECT_EQ(status_of(plain), 405);
  EXPECT_NE(plain.find("Allow: POST, GET, DELETE"), std::string::npos);
  EXPECT_EQ(
      status_of(
          RawClient(served.port())
              .ask(get("/mcp", "Accept: text/event-stream\r\nOrigin: http://evil.example\r\n"))),
      403);
}

TEST(SseServer, EndsSessions) {
  StreamServer served;
  std::string request = "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(status_of(RawClient(served.port()).ask(request)), 204);
  served.handler.session_refusal = link::StreamRefusal{404, "unknown session"};
  EXPECT_EQ(status_of(RawClient(served.port()).ask(request)), 404);
  served.handler.session_refusal = link::StreamRefusal{400, "which session?"};
  std::string response = RawClient(served.port()).ask(request);
  EXPECT_EQ(status_of(response), 400);
  EXPECT_NE(response.find("-32600"), std::string::npos) << response;
}

TEST(SseServer, KeepsSilentStreamsAlive) {
  auto options = stream_options();
  options.streams.keep_alive = milliseconds(20);
  StreamServer served(options);
  StreamClient client(served.port(), listen_request());
  client.read_until("\r\n\r\n:\n\n:\n\n");
}

TEST(SseServer, DropsWhoDoesNotRead) {
  auto options = stream_options();
  options.streams.max_queue = 100'000;
  StreamServer served(options);
  StreamClient client(served.port(), listen_request());
  auto channel = served.handler.channel(0);
  auto bytes = shared("\"" + std::string(50'000, 'x') + "\"");
  int taken = 0;
  while (taken < 2000 && channel->push(bytes)) ++taken;
  EXPECT_LT(taken, 2000);
  EXPECT_TRUE(eventually([&] { return served.handler.closed(channel->id()) == 1; }));
  EXPECT_NE(channel->close_reason().find("too slowly"), std::string::npos);
  EXPECT_EQ(served.server->stream_counts().dropped, 1U);
}

TEST(SseServer, DropsWhoStopsReadingThoughLittleWaits) {
  auto options = stream_options();
  options.streams.max_queue = 64 * 1024 * 1024;
  StreamServer served(options);
  StreamClient client(served.port(), listen_request());
  auto channel = served.handler.channel(0);
  channel->push(shared("\"" + std::string(20'000'000, 'x') + "\""));
  EXPECT_TRUE(eventually([&] { return served.handler.closed(channel->id()) == 1; }));
  EXPECT_NE(channel->close_reason().find("took nothing"), std::string::npos);
}

TEST(SseServer, EndsStreamsWhenItStops) {
  StreamServer served;
  StreamClient listening(served.port(), listen_request());
  auto channel = served.handler.channel(0);
  channel->push(shared("\"last\""));
  served.server->stop();
  EXPECT_TRUE(listening.read_all().ends_with("\"last\"\n\n"));
  EXPECT_EQ(served.handler.closed(channel->id()), 1);
  EXPECT_FALSE(channel->push(shared("{}")));
}

}  // namespace
}  // namespace league::transport::stream
