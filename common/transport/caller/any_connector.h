#pragma once

#include <memory>

#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/client/streamable_http_connection.h"
#include "common/transport/client/web_socket_connection.h"
#include "common/transport/line/line_connector.h"

namespace league::transport {

/// How connections of each kind are made.
struct AnyConnectorOptions {
  StreamableHttpOptions http;
  LegacySseOptions legacy_sse;
  WebSocketOptions web_socket;
  LineConnectorOptions lines;
  std::shared_ptr<Connector> bus = nullptr;  ///< for nats; null: this process is on no bus
};

/// Connects to endpoints of every scheme, plain HTTP and commands too: whoever gives it endpoints
/// of strangers has asked the operator's policy before. `loop` outlives it and its connections.
[[nodiscard]] std::shared_ptr<Connector> make_connector(EventLoop& loop,
                                                        const AnyConnectorOptions& options = {});

}  // namespace league::transport
