#pragma once

#include "common/transport/client/http_client_options.h"
#include "common/transport/link/event_loop.h"

namespace league::transport::client {

/// Options of connections to WebSocket servers.
struct WebSocketOptions {
  HttpHeaders headers;  ///< of the upgrade request, such as credentials
  std::size_t max_message = 1024 * 1024;  ///< bytes of a message of the peer
  std::size_t max_waiting = 4 * 1024 * 1024;  ///< bytes to be sent; more: the peer is dropped
  /// After half of this time without a message the peer is pinged; after all of it, it is dropped.
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds close_timeout{1000};  ///< for the closing handshake
};

/// Connects to `ws(s)://HOST:PORT/PATH`: offers the subprotocol `mcp`; each WebSocket text message
/// (RFC 6455) carries one message. Pings are answered; binary messages, invalid UTF-8 and messages
/// over the limit close the connection. OutboundMessage.done runs when the bytes have been passed
/// to the operating system.
/// Thread-safe; `loop` outlives it and its connections.
class WebSocketConnector final : public HttpConnector {
 public:
  explicit WebSocketConnector(link::EventLoop& loop, WebSocketOptions options = {});
  void open(const link::Endpoint& endpoint, core::Clock::Steady deadline,
            OpenedOrFailed opened) override;

 private:
  link::EventLoop& loop_;
  WebSocketOptions options_;
};

}  // namespace league::transport::client
