#pragma once

#include "common/transport/client/http_client_options.h"
#include "common/transport/link/event_loop.h"

namespace league::transport::client {

/// Options of connections to servers with MCP's transport "HTTP with SSE" (2024-11-05).
struct LegacySseOptions {
  HttpHeaders stream_headers;  ///< of the GET, such as credentials
  HttpHeaders post_headers;  ///< of each POST; a message's own headers are added after them
  HttpClientLimits limits;
};

/// Connects to `sse+http(s)://HOST:PORT/sse` (http(s) is taken as well): GET with
/// `Accept: text/event-stream`, then waits for the event `endpoint`, whose URL must be of the
/// stream's origin. Messages are POSTed there; the server's messages arrive as events. The
/// connection closes when its stream ends; OutboundMessage.done runs with the status of the POST,
/// and an error when that is not 2xx. Thread-safe; `loop` outlives it and its connections.
class LegacySseConnector final : public HttpConnector {
 public:
  explicit LegacySseConnector(link::EventLoop& loop, LegacySseOptions options = {});
  void open(const link::Endpoint& endpoint, core::Clock::Steady deadline,
            OpenedOrFailed opened) override;

 private:
  link::EventLoop& loop_;
  LegacySseOptions options_;
};

}  // namespace league::transport::client
