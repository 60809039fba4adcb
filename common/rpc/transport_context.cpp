#include "common/rpc/transport_context.h"

#include <unistd.h>

#include <array>
#include <utility>

namespace league::rpc {
namespace {

SharedText shared_method(std::string_view method) {
  constexpr std::array<std::string_view, 5> kUsual = {"POST", "GET", "DELETE", "OPTIONS", "HEAD"};
  for (std::string_view usual : kUsual) {
    if (method == usual) return SharedText::literal(usual);
  }
  return SharedText(std::string(method));
}

}  // namespace

std::string_view to_string(TransportType type) {
  constexpr std::array<std::string_view, 11> kNames = {
      "unknown", "stdio",     "subprocess", "tcp",    "unix", "http",
      "sse",     "websocket", "nats",       "memory", "seat"};
  static_assert(kNames.size() == static_cast<std::size_t>(TransportType::kSeat) + 1);
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view to_string(WebSocketFrameType type) {
  constexpr std::array<std::string_view, 5> kNames = {"text", "binary", "close", "ping", "pong"};
  static_assert(kNames.size() == static_cast<std::size_t>(WebSocketFrameType::kPong) + 1);
  return kNames[static_cast<std::size_t>(type)];
}

TransportContext TransportContext::stdio() {
  return {TransportType::kStdio, StdioMetadata{::getpid()}, nullptr};
}

TransportContext TransportContext::subprocess(std::int64_t process_id) {
  return {TransportType::kSubprocess, StdioMetadata{process_id}, nullptr};
}

TransportContext TransportContext::socket(TransportType type) { return {type, {}, nullptr}; }

TransportContext TransportContext::memory() { return {TransportType::kMemory, {}, nullptr}; }

TransportContext TransportContext::http(std::shared_ptr<const HeaderMap> headers,
                                        std::string_view method, SharedText uri) {
  return {TransportType::kHttp,
          HttpMetadata{std::move(headers), shared_method(method), std::move(uri), std::nullopt},
          nullptr};
}

TransportContext TransportContext::sse(SseMetadata metadata) {
  return {TransportType::kSse, std::make_shared<const SseMetadata>(std::move(metadata)), nullptr};
}

TransportContext TransportContext::web_socket(WebSocketMetadata metadata) {
  return {TransportType::kWebSocket, metadata, nullptr};
}

TransportContext TransportContext::nats(NatsMetadata metadata) {
  return {TransportType::kNats, std::make_shared<const NatsMetadata>(std::move(metadata)), nullptr};
}

TransportContext TransportContext::with_connection(std::shared_ptr<const ConnectionInfo> info) && {
  connection = std::move(info);
  return std::move(*this);
}

TransportContext TransportContext::with_connection(
    std::shared_ptr<const ConnectionInfo> info) const& {
  return TransportContext(*this).with_connection(std::move(info));
}

}  // namespace league::rpc
