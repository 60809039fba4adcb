#include <future>

#include "common/transport/stream/streams_testing.h"

namespace league::transport::stream {
namespace {

using league::testing::RawClient;

std::string post_to(const std::string& target, const std::string& body,
                    std::string_view headers = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

/// A client that has opened its stream.
struct LegacyClient {
  explicit LegacyClient(std::uint16_t server_port)
      : port(server_port), stream(server_port, get("/sse", "Accept: text/event-stream\r\n")) {
    constexpr std::string_view kBegin = "event: endpoint\ndata: ";
    std::string text = stream.take_until(kBegin);
    target = stream.take_until("\n\n");
    target.resize(target.size() - 2);
  }
  int say(const std::string& body) const {
    return status_of(RawClient(port).ask(post_to(target, body)));
  }

  std::uint16_t port;
  StreamClient stream;
  std::string target;
};

TEST(LegacySseServer, AnswersOnTheStream) {
  std::promise<rpc::MessageContext> seen;
  StreamServer served(stream_options(), [&](link::Inbound message, link::ReplySlot reply) {
    seen.set_value(message.context);
    EXPECT_TRUE(message.channel->push(shared("\"first\"")));
    league::testing::echo(std::move(message), std::move(reply));
  });
  LegacyClient client(served.port());
  EXPECT_TRUE(client.target.starts_with("/sse/message?sessionId=")) << client.target;
  std::string response = RawClient(served.port()).ask(post_to(client.target, "{\"id\":1}"));
  EXPECT_EQ(status_of(response), 202);
  EXPECT_TRUE(response.ends_with("\r\n\r\nAccepted"));
  client.stream.read_until(
      "event: message\ndata: \"first\"\n\nevent: message\ndata: {\"id\":1}\n\n");
  auto context = seen.get_future().get();
  EXPECT_EQ(context.transport.type, rpc::TransportType::kSse);
  const auto* metadata =
      std::get_if<std::shared_ptr<const rpc::SseMetadata>>(&context.transport.metadata);
  ASSERT_NE(metadata, nullptr);
  EXPECT_NE(client.target.find((*metadata)->stream_id), std::string::npos);
  EXPECT_FALSE(context.transport.connection->remote_address.empty());
}

TEST(LegacySseServer, ForgetsWhoIsGone) {
  StreamServer served;
  LegacyClient client(served.port());
  EXPECT_EQ(client.say("{}"), 202);
  EXPECT_EQ(RawClient(served.port()).ask(post_to("/sse/message?sessionId=1", "{}")).substr(9, 3),
            "404");
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post_to("/sse/message", "{}"))), 404);
  client.stream.close();
  EXPECT_TRUE(eventually([&] { return served.handler.closed_count() == 1; }));
  EXPECT_TRUE(eventually([&] { return client.say("{}") == 404; }));
}

TEST(LegacySseServer, TakesOnlyWhatItIsFor) {
  StreamServer served;
  auto status = [&](const std::string& bytes) {
    return status_of(RawClient(served.port()).ask(bytes));
  };
  EXPECT_EQ(status(post_to("/sse", "{}")), 405);
  EXPECT_EQ(status(get("/sse/message")), 405);
  EXPECT_EQ(status(get("/sse", "Accept: application/xml\r\n")), 406);
  EXPECT_EQ(status(get("/sse/other")), 404);
  EXPECT_EQ(status(get("/sse", "Origin: http://evil.example\r\n")), 403);
  LegacyClient client(served.port());
  EXPECT_EQ(status(post_to(client.target, "{}", "Origin: http://evil.example\r\n")), 403);
  auto options = stream_options();
  options.sse_path.clear();
  StreamServer without(options);
  EXPECT_EQ(status_of(RawClient(without.port()).ask(get("/sse"))), 404);
}

TEST(LegacySseServer, RefusesMoreThanItCanAnswer) {
  std::mutex mutex;
  std::vector<std::pair<link::Inbound, link::ReplySlot>> parked;
  auto options = stream_options();
  options.streams.max_in_work = 2;
  StreamServer served(options, [&](link::Inbound message, link::ReplySlot reply) {
    std::lock_guard lock(mutex);
    parked.emplace_back(std::move(message), std::move(reply));
  });
  LegacyClient client(served.port());
  EXPECT_EQ(client.say("1"), 202);
  EXPECT_EQ(client.say("2"), 202);
  EXPECT_EQ(client.say("3"), 503);
  for (auto& [message, reply] : parked) league::testing::echo(std::move(message), std::move(reply));
  client.stream.read_until("data: 1\n\nevent: message\ndata: 2\n\n");
}

TEST(LegacySseServer, AnswersWhatIsInWorkWhenItStops) {
  std::promise<std::pair<link::Inbound, link::ReplySlot>> parked;
  auto options = stream_options();
  options.stop_grace = milliseconds(5000);
  StreamServer served(options, [&](link::Inbound message, link::ReplySlot reply) {
    parked.set_value({std::move(message), std::move(reply)});
  });
  LegacyClient client(served.port());
  EXPECT_EQ(client.say("{\"id\":1}"), 202);
  auto [message, reply] = parked.get_future().get();
  served.server->begin_stop();
  league::testing::echo(std::move(message), std::move(reply));
  EXPECT_TRUE(client.stream.read_all().ends_with("data: {\"id\":1}\n\n"));
  served.server->stop();
}

}  // namespace
}  // namespace league::transport::stream
