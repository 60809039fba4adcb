#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "common/transport/connection/wire_connection.h"
#include "common/transport/link/detached_socket.h"
#include "common/transport/link/event_loop.h"

namespace league::transport::stream {

/// The parts of a valid upgrade request that the server needs.
struct WebSocketUpgrade {
  std::string key;  ///< Sec-WebSocket-Key
  bool offers_mcp = false;  ///< the subprotocol
  bool is_relayed = false;  ///< a proxy says that it passed the request on
};

/// Limits of one WebSocket.
struct ServerWebSocketOptions {
  std::size_t max_message = 256 * 1024;  ///< bytes of the peer's messages, else close code 1009
  std::size_t max_queue = 1024 * 1024;  ///< bytes that wait for the peer, else 1013
  /// A peer that is silent for half of this is pinged; one that stays silent for all of it is
  /// dropped.
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds close_timeout{1000};  ///< for the closing handshake
};

/// The server's end of a WebSocket. The answer to the upgrade goes out when the connection is
/// started. close() tells the peer 1000, unless another code was set. The event loop outlives it.
[[nodiscard]] std::shared_ptr<connection::WireConnection> serve_web_socket(
    link::EventLoop& loop, link::DetachedSocket socket, const WebSocketUpgrade& upgrade,
    const ServerWebSocketOptions& options);

}  // namespace league::transport::stream
