#pragma once

#include <memory>

#include "common/transport/client/streamable_http_connection.h"
#include "common/transport/client/web_socket_connection.h"
#include "common/transport/line/line_connector.h"

namespace league::transport::caller {

/// How connections of each kind are made.
struct AnyConnectorOptions {
  client::StreamableHttpOptions http;
  client::WebSocketOptions web_socket;
  line::SubprocessOptions lines;
  std::shared_ptr<link::Connector> bus = nullptr;  ///< for nats; null: this process is on no bus
  std::shared_ptr<link::Connector> legacy_sse = nullptr;  ///< for sse+http(s); null: not called
};

/// Connects to endpoints of every scheme, including plain HTTP and commands: callers must check
/// endpoints from strangers against the operator's policy first. `loop` outlives it and its
/// connections.
[[nodiscard]] std::shared_ptr<link::Connector> make_connector(
    link::EventLoop& loop, const AnyConnectorOptions& options = {});

}  // namespace league::transport::caller
