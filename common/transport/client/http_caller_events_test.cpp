// Answers of HttpCaller's peers that come as event streams.
#include <atomic>

#include "common/transport/caller/http_caller.h"
#include "common/transport/client/client_testing.h"

namespace league::transport::client {
namespace {

using league::testing::call_and_wait;

const std::string kSeventhAnswer = R"({"jsonrpc":"2.0","id":7,"result":{}})";
const std::string kBefore =
    "id: 1\ndata:\n\n: keep-alive\n\ndata: {\"method\":\"ping\",\"id\":7}\n\n"
    "data: {\"method\":\"progress\"}\n\ndata: {\"id\":8,\"result\":1}\n\nevent: x\ndata: "
    "{\"id\":7,\"result\":1}\n\n";
const std::string kAnswerEvent =
    "event: message\nid: 9\nretry: 20\ndata: " + kSeventhAnswer + "\n\n";

link::OutboundCall call_of(std::uint16_t port, milliseconds limit = kPatience,
                           rpc::Id id = rpc::Id(7)) {
  link::OutboundCall call;
  call.endpoint = endpoint_at("http", port, "/mcp");
  call.bytes = std::make_shared<const std::string>(R"({"jsonrpc":"2.0","id":7,"method":"a"})");
  call.deadline = in(limit);
  call.id = std::move(id);
  return call;
}

link::CallOutcome call_outcome_of(const ScriptedServer::Script& script,
                                  milliseconds limit = kPatience, rpc::Id id = rpc::Id(7)) {
  ScriptedServer server(script);
  auto caller = *caller::HttpCaller::create();
  return call_and_wait(*caller, call_of(server.port(), limit, std::move(id)));
}

ScriptedServer::Script answering(std::string answer) {
  return [answer](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(answer);
  };
}

TEST(HttpCallerEvents, TakesTheAnswerOutOfTheStream) {
  for (std::size_t size : {1U, 5U, 10000U}) {
    auto outcome = call_outcome_of([&](ScriptedServer::Connection& connection, int) {
      connection.read_request();
      connection.send(kChunkedEventHead);
      std::string events = kBefore + kAnswerEvent;
      for (std::string_view rest = events; !rest.empty();) {
        connection.send(chunk(rest.substr(0, size)));
        rest.remove_prefix(std::min(size, rest.size()));
      }
      connection.send("0\r\n\r\n");
      connection.wait_for_close();
    });
    ASSERT_FALSE(outcome.error) << outcome.error->message;
    EXPECT_EQ(outcome.bytes, kSeventhAnswer);
    EXPECT_EQ(outcome.http_status, 200);
    EXPECT_TRUE(outcome.sent_at);
    EXPECT_EQ(outcome.context.transport.type, rpc::TransportType::kSse);
    EXPECT_NE(outcome.context.transport.connection, nullptr);
    auto sse =
        std::get<std::shared_ptr<const rpc::SseMetadata>>(outcome.context.transport.metadata);
    EXPECT_EQ(sse->event_id, "9");
    EXPECT_EQ(sse->event_type, "message");
    EXPECT_EQ(sse->retry_after, milliseconds(20));
    EXPECT_EQ(sse->last_event_id, "9");
  }
}

TEST(HttpCallerEvents, WithoutAnIdTheFirstResponseCounts) {
  auto outcome = call_outcome_of(answering(kEventHead + kBefore), kPatience, rpc::Id());
  EXPECT_EQ(outcome.bytes, "{\"id\":8,\"result\":1}");
}

TEST(HttpCallerEvents, AStreamThatStaysOpenHoldsNobodyUp) {
  auto begun = std::chrono::steady_clock::now();
  auto outcome = call_outcome_of([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + kAnswerEvent);
    connection.wait_for_close();
  });
  EXPECT_EQ(outcome.bytes, kSeventhAnswer);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(2000));
}

TEST(HttpCallerEvents, AProperEndKeepsTheConnection) {
  ScriptedServer server([](ScriptedServer::Connection& connection, int) {
    while (!connection.read_request().empty()) {
      connection.send(kChunkedEventHead + chunk(kAnswerEvent) + "0\r\n\r\n");
    }
  });
  auto caller = *caller::HttpCaller::create();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(call_and_wait(*caller, call_of(server.port())).bytes, kSeventhAnswer);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpCallerEvents, AnOpenEndDoesNot) {
  ScriptedServer server([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kChunkedEventHead + chunk(kAnswerEvent));
    connection.wait_for_close();
  });
  auto caller = *caller::HttpCaller::create();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call_and_wait(*caller, call_of(server.port())).bytes, kSeventhAnswer);
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST(HttpCallerEvents, DrippingAndEndlessStreamsEnd) {
  auto dripping = call_outcome_of(
      [](ScriptedServer::Connection& connection, int) {
        connection.read_request();
        connection.send(kEventHead);
        while (connection.send(":")) std::this_thread::yield();
      },
      milliseconds(100));
  ASSERT_TRUE(dripping.error);
  EXPECT_EQ(dripping.error->code, ErrorCode::kTimeout);
  auto endless = call_outcome_of([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + "data: ");
    while (connection.send(std::string(10000, 'x'))) {
    }
  });
  ASSERT_TRUE(endless.error);
  EXPECT_EQ(endless.error->code, ErrorCode::kReplyTooLarge);
}

TEST(HttpCallerEvents, AStreamWithoutTheAnswerIsAnError) {
  auto outcome = call_outcome_of(answering(kEventHead + "data: {\"id\":8,\"result\":1}\n\n"));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kConnectionError);
  EXPECT_TRUE(says(outcome.error->message, "ended without the answer")) << outcome.error->message;
}

TEST(HttpCallerEvents, ABrokenStreamIsContinued) {
  std::string resumption;
  auto outcome = call_outcome_of([&](ScriptedServer::Connection& connection, int number) {
    std::string request = connection.read_request();
    connection.send(kEventHead);
    if (number == 0) {
      connection.send("id: a1\nretry: 1\ndata:\n\n");
    } else {
      resumption = request;
      connection.send(kAnswerEvent);
    }
  });
  EXPECT_EQ(outcome.bytes, kSeventhAnswer);
  EXPECT_TRUE(resumption.starts_with("GET /mcp HTTP/1.1\r\n")) << resumption;
  EXPECT_TRUE(says(resumption, "\r\nLast-Event-ID: a1\r\n")) << resumption;
  EXPECT_TRUE(says(resumption, "\r\nAccept: text/event-stream\r\n")) << resumption;
}

TEST(HttpCallerEvents, ContinuingHasItsLimits) {
  std::atomic<int> connections = 0;
  auto vain = call_outcome_of([&](ScriptedServer::Connection& connection, int) {
    ++connections;
    connection.read_request();
    connection.send(kEventHead + "id: a\nretry: 1\n\n");
  });
  EXPECT_EQ(vain.error->code, ErrorCode::kConnectionError);
  EXPECT_EQ(connections, 6);
  auto late =
      call_outcome_of(answering(kEventHead + "id: a\nretry: 100000\n\n"), milliseconds(1000));
  EXPECT_EQ(late.error->code, ErrorCode::kTimeout);
  auto refused = call_outcome_of([](ScriptedServer::Connection& connection, int number) {
    connection.read_request();
    connection.send(number == 0 ? kEventHead + "id: a\nretry: 1\n\n"
                                : answer_with(404, "text/plain", "no"));
  });
  EXPECT_TRUE(says(refused.error->message, "not continued (status 404)")) << refused.error->message;
}

TEST(HttpCallerEvents, StoppingEndsTheWait) {
  std::promise<void> is_asked;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + "id: a\nretry: 4000\n\n");
    is_asked.set_value();
  });
  auto caller = *caller::HttpCaller::create();
  std::promise<link::CallOutcome> ended;
  caller->call(call_of(server.port()),
               [&](link::CallOutcome out) { ended.set_value(std::move(out)); });
  is_asked.get_future().wait();
  caller = nullptr;
  EXPECT_TRUE(ended.get_future().get().error);
}

TEST(HttpCallerEvents, PagesForPeopleAreNamed) {
  auto page = call_outcome_of(answering(answer_with(200, "text/html", "<html>hello</html>")));
  ASSERT_TRUE(page.error);
  EXPECT_EQ(page.error->code, ErrorCode::kInvalidReply);
  EXPECT_TRUE(says(page.error->message, "text/html")) << page.error->message;
  EXPECT_TRUE(says(page.error->message, "<html>hello")) << page.error->message;
  for (const char* type : {"text/plain", "text/html", "application/octet-stream"}) {
    auto lenient = call_outcome_of(answering(answer_with(200, type, " " + kSeventhAnswer)));
    EXPECT_FALSE(lenient.error) << type;
    EXPECT_EQ(lenient.bytes, " " + kSeventhAnswer);
  }
  EXPECT_FALSE(call_outcome_of(answering(answer_with(404, "text/html", "<p>"))).error);
}

}  // namespace
}  // namespace league::transport::client
