#include "common/audit/record/context_text.h"

#include <gtest/gtest.h>

namespace league::audit::record {
namespace {

std::string text_of(const rpc::TransportContext& transport,
                    std::optional<rpc::SessionId> session = std::nullopt) {
  std::string out;
  append_context(transport, session, out);
  return out;
}

rpc::ConnectionInfo sample_connection() { return {"127.0.0.1:4242", "127.0.0.1:8000", "c7", {}}; }

TEST(ContextText, SaysNothingWhereNothingIsKnown) {
  EXPECT_EQ(text_of(rpc::TransportContext::memory()), "");
}

TEST(ContextText, HttpHasConnectionMethodAndPathButNoQueryAndNoHeaders) {
  auto headers = std::make_shared<rpc::HeaderMap>();
  headers->emplace("Authorization", "Bearer secret");
  auto http = rpc::TransportContext::http(headers, "POST", rpc::SharedText("/mcp?key=secret"))
                  .with_connection(std::make_shared<rpc::ConnectionInfo>(sample_connection()));
  EXPECT_EQ(text_of(http),
            R"({"connection":"c7","remote":"127.0.0.1:4242","local":"127.0.0.1:8000",)"
            R"("method":"POST","uri":"/mcp"})");
}

TEST(ContextText, AStreamShowsTheBeginningOfItsName) {
  rpc::SseMetadata sse;
  sse.stream_id = "abcdefghijklmnop";
  sse.event_id = "abcdefghijklmnop-12";
  sse.event_type = "message";
  sse.retry_after = std::chrono::milliseconds(250);
  sse.last_event_id = "abcdefghijklmnop-3";
  EXPECT_EQ(text_of(rpc::TransportContext::sse(sse)),
            R"({"stream":"abcdefgh...","event_id":"abcdefgh...-12","event_type":"message",)"
            R"("retry_ms":250,"last_event_id":"abcdefgh...-3"})");
}

TEST(ContextText, AWebSocketFrameAndAChildAndASession) {
  EXPECT_EQ(text_of(rpc::TransportContext::web_socket({})),
            R"({"frame":"text","final":true,"compressed":false})");
  EXPECT_EQ(text_of(rpc::TransportContext::subprocess(17), rpc::SessionId("0123456789abcdef")),
            R"({"session":"01234567...","process":17})");
}

TEST(ContextText, OnABusOnlyTheBeginningOfSessionsIsShown) {
  const std::string session = "0f3c1a2b-aaaa-bbbb-cccc-0123456789ab";
  auto nats = rpc::TransportContext::nats(
      {"mcp.session." + session + ".in", "_INBOX." + session + ".fedcba9876543210.17", "conv-1"});
  EXPECT_EQ(text_of(nats, rpc::SessionId(session)),
            R"({"session":"0f3c1a2b...","subject":"mcp.session.0f3c1a2b....in",)"
            R"("reply":"_INBOX.0f3c1a2b....fedcba98....17","trace":"conv-1"})");
  EXPECT_EQ(text_of(rpc::TransportContext::nats({"mcp.discovery", "", ""})),
            R"({"subject":"mcp.discovery"})");
}

TEST(ContextText, AHostileTraceIsEscaped) {
  EXPECT_EQ(text_of(rpc::TransportContext::nats({"mcp.discovery", "_INBOX.a\xff", "x\"y"})),
            R"({"subject":"mcp.discovery","reply":"?","trace":"x\"y"})");
}

TEST(ContextText, OfAStreamOnlyTheNumberBehindItsNameIsShown) {
  rpc::SseMetadata sse;
  sse.stream_id = "abcdefghijkl-secret";
  sse.event_id = "abcdefghijkl-secret";
  sse.last_event_id = "abcdefghijkl-secret-3";
  EXPECT_EQ(text_of(rpc::TransportContext::sse(sse)),
            R"({"stream":"abcdefgh...","event_id":"abcdefgh...","last_event_id":"abcdefgh...-3"})");
}

TEST(ContextText, TlsAndTextsThatNeedEscaping) {
  auto connection = sample_connection();
  connection.tls = rpc::TlsInfo{"TLSv1.3", "x", ""};
  connection.remote_address = "a\"b\xff";
  auto transport = rpc::TransportContext::socket(rpc::TransportType::kTcp)
                       .with_connection(std::make_shared<rpc::ConnectionInfo>(connection));
  EXPECT_EQ(text_of(transport),
            R"({"connection":"c7","remote":"?","local":"127.0.0.1:8000","tls":"TLSv1.3"})");
}

}  // namespace
}  // namespace league::audit::record
