#pragma once

#include <memory>

#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/client/streamable_http_connection.h"
#include "common/transport/client/web_socket_connection.h"
#include "common/transport/line/line_connector.h"

namespace league::mcp {

/// How connections of each kind are made.
struct AnyConnectorOptions {
  transport::StreamableHttpOptions http;
  transport::LegacySseOptions legacy_sse;
  transport::WebSocketOptions web_socket;
  transport::LineConnectorOptions lines;
};

/// Connects to endpoints of every scheme, plain HTTP and commands too: whoever gives it endpoints
/// of strangers has asked the operator's policy before. `hub` outlives it and its connections.
[[nodiscard]] std::shared_ptr<transport::Connector> make_any_connector(
    transport::Hub& hub, const AnyConnectorOptions& options = {});

}  // namespace league::mcp
