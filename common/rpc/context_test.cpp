#include "common/rpc/context.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
  info.tls = TlsInfo{"TLSv1.3", "TLS_AES_256_GCM_SHA384", "CN=bot", "league.example"};
  return std::make_shared<const ConnectionInfo>(std::move(info));
}

std::shared_ptr<const HeaderMap> some_headers() {
  return std::make_shared<const HeaderMap>(HeaderMap{
      {"Content-Type", "application/json"}, {"X-Secret", "first"}, {"x-secret", "second"}});
}

MessageContext http_context(const core::Clock& clock) {
  return MessageContext::minimal(clock)
      .with_direction(MessageDirection::kClientToServer)
      .with_session(SessionContext::with_id(SessionId("a-session-id-that-is-long-enough"))
                        .with_correlation_id(SharedText(std::string("convr1m1001-with-some-more"))))
      .with_transport(TransportContext::http(some_headers(), "POST", SharedText::literal("/mcp"))
                          .with_connection(some_connection()));
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

TEST(SessionContext, AnonymousHasNoIdAndIsNotInitialised) {
  SessionContext session = SessionContext::anonymous();
  EXPECT_FALSE(session.session_id.has_value());
  EXPECT_FALSE(session.correlation_id.has_value());
  EXPECT_EQ(session.state, SessionState::kUninitialized);
  EXPECT_EQ(session.protocol_version.view(), "2025-11-25");
}

TEST(SessionContext, WithIdIsActive) {
  SessionContext session = SessionContext::with_id(SessionId("s1"));
  EXPECT_EQ(session.session_id->view(), "s1");
  EXPECT_EQ(session.state, SessionState::kActive);
  EXPECT_EQ(session.with_correlation_id(SharedText::literal("c")).correlation_id->view(), "c");
  EXPECT_FALSE(session.correlation_id.has_value()) << "the original is left alone";
}

TEST(SessionContext, NamesItsFiveStates) {
  EXPECT_EQ(to_string(SessionState::kUninitialized), "uninitialized");
  EXPECT_EQ(to_string(SessionState::kInitializing), "initializing");
  EXPECT_EQ(to_string(SessionState::kActive), "active");
  EXPECT_EQ(to_string(SessionState::kClosing), "closing");
  EXPECT_EQ(to_string(SessionState::kClosed), "closed");
}

TEST(HeaderMap, IgnoresTheCaseOfNamesAndKeepsRepetitions) {
  auto headers = some_headers();
  EXPECT_EQ(find_header(*headers, "content-TYPE"), "application/json");
  EXPECT_EQ(headers->count("X-SECRET"), 2U);
  EXPECT_EQ(find_header(*headers, "x-Secret"), "first");
  EXPECT_EQ(find_header(*headers, "missing"), std::nullopt);
}

TEST(TransportContext, FormsCarryTheirMetadata) {
  EXPECT_EQ(TransportContext::unknown().type, TransportType::kUnknown);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(TransportContext::unknown().metadata));
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

TEST(TimingContext, MeasuresFromCreationToSending) {
  FakeTime time;
  TimingContext timing = TimingContext::now(time);
  EXPECT_EQ(timing.system_time.to_log(), "2025-01-15T10:30:00.000000Z");
  EXPECT_EQ(timing.waiting_duration(), std::nullopt);
  EXPECT_EQ(timing.processing_duration(), std::nullopt);
  EXPECT_EQ(timing.total_duration(), std::nullopt);

  time.advance(microseconds(5));
  timing.start_processing(time);
  time.advance(microseconds(20));
  EXPECT_EQ(timing.processing_duration(), std::nullopt);
  timing.complete_processing(time);
  time.advance(microseconds(3));
  timing.mark_sent(time);

  EXPECT_EQ(timing.waiting_duration(), microseconds(5));
  EXPECT_EQ(timing.processing_duration(), microseconds(20));
  EXPECT_EQ(timing.total_duration(), microseconds(28));
}

TEST(TimingContext, ProcessingThatNeverStartedHasNoDuration) {
  FakeTime time;
  TimingContext timing = TimingContext::at(time.steady_now(), time.utc_now());
  timing.complete_processing(time.steady_now());
  EXPECT_EQ(timing.processing_duration(), std::nullopt);
}

TEST(MessageContext, MinimalKnowsOnlyTheTime) {
  FakeTime time;
  MessageContext context = MessageContext::minimal(time);
  EXPECT_EQ(context.direction, MessageDirection::kUnknown);
  EXPECT_EQ(context.session, SessionContext::anonymous());
  EXPECT_EQ(context.transport.type, TransportType::kUnknown);
  EXPECT_EQ(context.timing, TimingContext::now(time));
  EXPECT_FALSE(context.is_complete());
}

TEST(MessageContext, IsCompleteWithDirectionAndSession) {
  FakeTime time;
  MessageContext minimal = MessageContext::minimal(time);
  MessageContext directed = minimal.with_direction(MessageDirection::kInternal);
  SessionContext session = SessionContext::with_id(SessionId("s"));
  EXPECT_FALSE(directed.is_complete());
  EXPECT_FALSE(minimal.with_session(session).is_complete());
  EXPECT_TRUE(directed.with_session(session).is_complete());
  EXPECT_FALSE(minimal.is_complete()) << "the original is left alone";
}

TEST(MessageContext, ResponseReversesTheDirectionAndHasItsOwnTimes) {
  FakeTime time;
  MessageContext request = http_context(time);
  request.timing.start_processing(time);
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
  MessageContext response = copy.for_response(context.timing);
  EXPECT_EQ(testing::allocation_count() - before, 0U);
  EXPECT_EQ(response.session, context.session);
}

TEST(MessageContext, LogFormShowsNoSecrets) {
  FakeTime time;
  MessageContext context = http_context(time);
  context.transport.as_http()->status = 200;
  context.timing.start_processing(time);
  time.advance(microseconds(12));
  context.timing.complete_processing(time);
  nlohmann::json log = context;

  EXPECT_EQ(log["direction"], "client_to_server");
  EXPECT_EQ(log["session"]["session_id"], "a-sessio");
  EXPECT_EQ(log["session"]["correlation_id"], "convr1m1001-with-some-more");
  EXPECT_EQ(log["transport"]["type"], "http");
  EXPECT_EQ(log["transport"]["status"], 200);
  EXPECT_EQ(log["transport"]["remote_address"], "192.168.100.200:45678");
  EXPECT_EQ(log["timing"]["processing_us"], 12);
  EXPECT_EQ(log["timing"].count("total_us"), 0U);
  std::string text = log.dump();
  EXPECT_EQ(text.find("first"), std::string::npos);
  EXPECT_EQ(text.find("that-is-long-enough"), std::string::npos);
}

TEST(Delivery, CopiesShareTheMessageButNotTheContext) {
  FakeTime time;
  Delivery delivery(make_request(Id(7), "choose_parity", {{"match_id", "R1M1"}}),
                    http_context(time));
  std::size_t before = testing::allocation_count();
  Delivery copy = delivery;
  EXPECT_EQ(testing::allocation_count() - before, 0U);
  copy.context.direction = MessageDirection::kInternal;
  EXPECT_EQ(&copy.message(), &delivery.message());
  EXPECT_EQ(delivery.context.direction, MessageDirection::kClientToServer);
}

TEST(Delivery, BuildersReplaceOnePart) {
  FakeTime time;
  Delivery plain(make_notification("update"), MessageContext::minimal(time));
  Delivery built = plain.with_direction(MessageDirection::kServerToClient)
                       .with_session(SessionContext::with_id(SessionId("s")))
                       .with_transport(TransportContext::memory());
  EXPECT_EQ(built.message(), plain.message());
  EXPECT_TRUE(built.context.is_complete());
  EXPECT_EQ(built.context.transport.type, TransportType::kMemory);
  EXPECT_EQ(plain.context.direction, MessageDirection::kUnknown);
}

TEST(Delivery, AnswerGoesTheOtherWay) {
  FakeTime time;
  Delivery request(make_request(Id(7), "ping"), http_context(time));
  Delivery answer =
      request.answer(make_result(Id(7), {{"status", "ok"}}), TimingContext::now(time));
  EXPECT_EQ(answer.context.direction, MessageDirection::kServerToClient);
  EXPECT_EQ(answer.context.session, request.context.session);
  EXPECT_EQ(*id_of(answer.message()), Id(7));
}

}  // namespace
}  // namespace league::rpc
