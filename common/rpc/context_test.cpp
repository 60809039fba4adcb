#include "common/rpc/context.h"

#include <gtest/gtest.h>

#include "common/rpc/allocation_count_testing.h"
#include "common/rpc/delivery.h"
#include "tests/support/fake_clock.h"

namespace league::rpc {
namespace {

namespace testing = league::testing;  // not GoogleTest's
using std::chrono::microseconds;
using testing::FakeTime;

std::shared_ptr<const ConnectionInfo> some_connection() {
  ConnectionInfo info;
  info.remote_address = "192.168.100.200:45678";
  info.local_address = "192.168.100.201:8000";
  info.connection_id = "a-connection-id-of-some-length";
  info.tls = TlsInfo{"TLSv1.3", "TLS_AES_256_GCM_SHA384", "league.example"};
  return std::make_shared<const ConnectionInfo>(std::move(info));
}

std::shared_ptr<const HeaderMap> some_headers() {
  return std::make_shared<const HeaderMap>(HeaderMap{
      {"Content-Type", "application/json"}, {"X-Secret", "first"}, {"x-secret", "second"}});
}

MessageContext http_context(const core::Clock& clock) {
  auto context = MessageContext::now(
      clock, MessageDirection::kClientToServer,
      TransportContext::http(some_headers(), "POST", SharedText::literal("/mcp"))
          .with_connection(some_connection()));
  context.session = SessionId("a-session-id-that-is-long-enough");
  return context;
}

TEST(MessageDirection, IsReversedForTheAnswer) {
  using enum MessageDirection;
  for (auto direction : {kClientToServer, kServerToClient, kInternal, kUnknown}) {
    EXPECT_EQ(reverse(reverse(direction)), direction);
  }
  EXPECT_EQ(reverse(kClientToServer), kServerToClient);
  EXPECT_EQ(reverse(kServerToClient), kClientToServer);
  EXPECT_EQ(reverse(kInternal), kInternal);
  EXPECT_EQ(reverse(kUnknown), kUnknown);
  EXPECT_EQ(to_string(kClientToServer), "client_to_server");
  EXPECT_EQ(to_string(kServerToClient), "server_to_client");
  EXPECT_EQ(to_string(kInternal), "internal");
  EXPECT_EQ(to_string(kUnknown), "unknown");
}

TEST(HeaderMap, IgnoresTheCaseOfNamesAndKeepsRepetitions) {
  auto headers = some_headers();
  EXPECT_EQ(find_header(*headers, "content-TYPE"), "application/json");
  EXPECT_EQ(headers->count("X-SECRET"), 2U);
  EXPECT_EQ(find_header(*headers, "x-Secret"), "first");
  EXPECT_EQ(find_header(*headers, "missing"), std::nullopt);
}

TEST(TransportContext, FormsCarryTheirMetadata) {
  EXPECT_EQ(TransportContext().type, TransportType::kUnknown);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(TransportContext().metadata));
  EXPECT_EQ(TransportContext::memory().type, TransportType::kMemory);

  TransportContext stdio = TransportContext::stdio();
  EXPECT_EQ(stdio.type, TransportType::kStdio);
  EXPECT_GT(std::get<StdioMetadata>(stdio.metadata).process_id, 0);
  EXPECT_EQ(stdio.as_http(), nullptr);

  TransportContext http =
      TransportContext::http(some_headers(), "PATCH", SharedText(std::string("/mcp?x=1")));
  ASSERT_NE(http.as_http(), nullptr);
  EXPECT_EQ(http.as_http()->method.view(), "PATCH");
  EXPECT_EQ(http.as_http()->uri.view(), "/mcp?x=1");
  EXPECT_EQ(http.as_http()->headers->size(), 3U);
  EXPECT_EQ(http.as_http()->status, std::nullopt);
}

TEST(TransportContext, HoldsTheFormsOfLaterTransports) {
  SseMetadata event;
  event.event_id = "7";
  event.retry_after = std::chrono::milliseconds(1500);
  event.stream_id = "stream";
  TransportContext sse = TransportContext::sse(event);
  EXPECT_EQ(sse.type, TransportType::kSse);
  EXPECT_EQ(*std::get<std::shared_ptr<const SseMetadata>>(sse.metadata), event);

  WebSocketMetadata frame{WebSocketFrameType::kPing, false, true};
  TransportContext socket = TransportContext::web_socket(frame);
  EXPECT_EQ(socket.type, TransportType::kWebSocket);
  EXPECT_EQ(std::get<WebSocketMetadata>(socket.metadata), frame);
}

TEST(TransportContext, NamesItsTypes) {
  EXPECT_EQ(to_string(TransportType::kUnknown), "unknown");
  EXPECT_EQ(to_string(TransportType::kStdio), "stdio");
  EXPECT_EQ(to_string(TransportType::kHttp), "http");
  EXPECT_EQ(to_string(TransportType::kSse), "sse");
  EXPECT_EQ(to_string(TransportType::kWebSocket), "websocket");
  EXPECT_EQ(to_string(TransportType::kMemory), "memory");
}

TEST(MessageContext, OfNowKnowsTheTimeAndWhatItIsTold) {
  FakeTime time;
  MessageContext context = MessageContext::now(time);
  EXPECT_EQ(context.direction, MessageDirection::kUnknown);
  EXPECT_EQ(context.session, std::nullopt);
  EXPECT_EQ(context.transport.type, TransportType::kUnknown);
  EXPECT_EQ(context.timing.created, time.steady_now());
  EXPECT_EQ(context.timing.system_time.to_log(), "2025-01-15T10:30:00.000000Z");
}

TEST(MessageContext, ResponseReversesTheDirectionAndHasItsOwnTimes) {
  FakeTime time;
  MessageContext request = http_context(time);
  time.advance(microseconds(9));
  MessageContext response = request.for_response(time);

  EXPECT_EQ(response.direction, MessageDirection::kServerToClient);
  EXPECT_EQ(response.session, request.session);
  EXPECT_EQ(response.transport.connection, request.transport.connection);
  EXPECT_EQ(response.transport.as_http()->headers, request.transport.as_http()->headers);
  EXPECT_EQ(response.timing, TimingContext::now(time));
}

TEST(MessageContext, CopyOfAnHttpContextAllocatesNothing) {
  FakeTime time;
  MessageContext context = http_context(time);
  std::size_t before = testing::allocation_count();
  MessageContext copy = context;
  MessageContext response = copy.for_response(time);
  EXPECT_EQ(testing::allocation_count() - before, 0U);
  EXPECT_EQ(response.session, context.session);
}

TEST(Delivery, CopiesShareTheBytesAndTheNotesButNotTheContext) {
  FakeTime time;
  Delivery delivery{std::string(200, 'x'), http_context(time)};
  std::size_t before = testing::allocation_count();
  Delivery copy{delivery};
  EXPECT_EQ(testing::allocation_count() - before, 0U);
  copy.context.direction = MessageDirection::kInternal;
  copy.notes->peer = "player:P01";
  EXPECT_EQ(copy.bytes.begin(), delivery.bytes.begin());
  EXPECT_EQ(delivery.notes->peer, "player:P01");
  EXPECT_EQ(delivery.context.direction, MessageDirection::kClientToServer);
}

}  // namespace
}  // namespace league::rpc
