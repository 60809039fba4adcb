#pragma once

#include <string_view>
#include <variant>

#include "common/rpc/http_headers.h"
#include "common/transport/http/http_refusal.h"
#include "common/transport/stream/web_socket_sessions.h"

namespace league::transport {

/// True when a GET asks to become a WebSocket, rightly or not.
[[nodiscard]] bool is_upgrade(const rpc::HeaderMap& headers);

/// What the handshake of RFC 6455 §4.2.1 asks for; 426 for another version of it, 400 for what is
/// no handshake.
[[nodiscard]] std::variant<HttpRefusal, WebSocketUpgrade> read_upgrade(
    const rpc::HeaderMap& headers, std::string_view version);

}  // namespace league::transport
