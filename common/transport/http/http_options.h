#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace league::transport::link {
class RateLimiter;
class EventLoop;
}  // namespace league::transport::link

namespace league::transport::http {

/// Counters of one server's event streams and WebSockets.
struct StreamCounts {
  std::size_t open = 0;  ///< sockets
  std::size_t resumable = 0;  ///< streams that a client may resume, connected or not
  std::size_t stored_bytes = 0;  ///< of their events, in all servers of the runtime
  std::uint64_t opened = 0;
  std::uint64_t resumed = 0;
  std::uint64_t dropped = 0;  ///< for reading too slowly
};

/// What one request may cost.
struct HttpLimits {
  std::size_t max_head = 16 * 1024;  ///< bytes of request line and headers, else 431
  std::size_t max_body = 256 * 1024;  ///< bytes of the body, chunked or not, else 413
  std::chrono::milliseconds request_timeout{5000};  ///< from the first byte to the last, else 408
  std::chrono::milliseconds write_timeout{5000};  ///< for a peer that does not read its answer
  std::chrono::milliseconds idle_timeout{60'000};  ///< between two requests
  std::chrono::milliseconds linger_timeout{1000};  ///< how long a refused peer may read its refusal
};

/// What long-lived streams may cost: event streams and WebSockets.
struct StreamLimits {
  /// After this much silence an event stream sends a comment.
  std::chrono::milliseconds keep_alive{15'000};
  /// A WebSocket that is silent for half of this is pinged; after all of it, it is dropped.
  std::chrono::milliseconds idle_timeout{60'000};
  /// Bytes that wait for one peer; a peer with more reads too slowly and is dropped.
  std::size_t max_queue = 1024 * 1024;
  std::size_t max_in_work = 64;  ///< messages of one legacy stream or WebSocket without an answer
  std::size_t max_stored = 256 * 1024;  ///< bytes of the last events of a resumable stream
  std::size_t max_stored_in_total = 64 * 1024 * 1024;  ///< of all streams of a runtime
  /// The maximum number of resumable streams that are kept for absent peers; the limit applies to
  /// open and to ended streams separately.
  std::size_t max_away_streams = 10'000;
  /// How long events, and resumable streams without their peer, are kept.
  std::chrono::milliseconds stored_for{60'000};
};

/// One listening port.
struct HttpServerOptions {
  std::string bind_address = "127.0.0.1";  ///< numeric
  std::uint16_t port = 0;  ///< 0: any that is free
  std::string path = "/mcp";
  /// Messages are also accepted, by POST only, at every path below this one, which ends with `/`.
  /// Empty: at none.
  std::string folder;
  /// Where the transport of MCP 2024-11-05 opens its stream; its messages go to this path and
  /// `/message`. Empty: it is not served.
  std::string sse_path = "/sse";
  /// If a client accepts JSON and event streams, answer with a stream of one event.
  bool prefers_event_stream = false;
  HttpLimits limits;
  StreamLimits streams;
  /// Names besides localhost, 127.0.0.1 and [::1] that the Host header may have, without port; `*`
  /// allows every name.
  std::vector<std::string> allow_hosts;
  /// Origins such as `http://localhost:3000` whose pages may call, in the form that parse_origin
  /// returns; none by default.
  std::vector<std::string> allow_origins;
  /// Consulted for every request before it is parsed; requests of known senders are served first.
  /// Null: every request is accepted, and no sender is a stranger.
  std::shared_ptr<link::RateLimiter> limiter;
  /// How long stop() waits for running requests.
  std::chrono::milliseconds stop_grace{500};
};

/// What all servers of a process share.
struct HttpRuntimeOptions {
  std::size_t workers = 2;
  link::EventLoop* loop = nullptr;  ///< for long-lived streams; outlives the runtime. Null: its own
  std::size_t max_connections = 20'000;  ///< including streams and WebSockets
  /// Per remote address, connections that have shown no credential; on a server without a rate
  /// limiter these are all of them. For a new connection the oldest one that waits or is half-sent
  /// is closed.
  std::size_t max_connections_per_address = 64;
  /// The same for loopback, where streams do not count; no limit on a server without a rate
  /// limiter.
  std::size_t max_local_connections = 1024;
  std::size_t max_waiting_strangers = 1024;  ///< whole requests in the queue; further ones get 429
  /// How often time limits are checked; they may be noticed later by this much.
  std::chrono::milliseconds sweep_interval{250};
};

}  // namespace league::transport::http
