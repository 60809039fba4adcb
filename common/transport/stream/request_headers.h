#pragma once

#include <string_view>
#include <variant>

#include "common/rpc/http_headers.h"
#include "common/transport/http/http_refusal.h"
#include "common/transport/stream/server_web_socket.h"

namespace league::transport::stream {

/// The types of answers that a client accepts (RFC 9110 §12.5.1, without preferences).
struct AcceptedTypes {
  bool json = false;
  bool event_stream = false;  ///< named explicitly; a wildcard alone means JSON
};

/// Without an Accept header: JSON.
[[nodiscard]] AcceptedTypes accepted_types(const rpc::HeaderMap& headers);

/// True if a GET asks for a WebSocket, validly or not.
[[nodiscard]] bool is_upgrade(const rpc::HeaderMap& headers);

/// Checks the handshake of RFC 6455 §4.2.1; 426 for another version, 400 for an invalid handshake.
[[nodiscard]] std::variant<http::HttpRefusal, WebSocketUpgrade> read_upgrade(
    const rpc::HeaderMap& headers, std::string_view version);

}  // namespace league::transport::stream
