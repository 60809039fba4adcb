#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/core/result.h"
#include "common/transport/front/httplib_server.h"
#include "common/transport/http/http_options.h"
#include "common/transport/link/message_handler.h"

namespace league::transport::stream {
struct SharedStreams;
}  // namespace league::transport::stream

namespace league::transport::link {
class EventLoop;
}  // namespace league::transport::link

namespace league::transport::front {

class HttpFront;
struct Listener;
struct ServerState;

/// The event loop and workers that all HTTP servers of a process share; outlives them. Thread-safe.
class HttpRuntime {
 public:
  /// Fails with kInternalError when the system refuses an event loop.
  [[nodiscard]] static core::Result<std::unique_ptr<HttpRuntime>> start(
      const http::HttpRuntimeOptions& options = {});
  ~HttpRuntime();
  HttpRuntime(const HttpRuntime&) = delete;
  HttpRuntime& operator=(const HttpRuntime&) = delete;

  /// The event loop for streams.
  [[nodiscard]] link::EventLoop& loop() const;

 private:
  friend class HttpServer;
  HttpRuntime(std::unique_ptr<link::EventLoop> own_loop, link::EventLoop& loop,
              std::shared_ptr<HttpFront> front);
  std::unique_ptr<link::EventLoop> own_loop_;  ///< null if one was given
  std::unique_ptr<stream::SharedStreams> streams_;
  std::shared_ptr<HttpFront> front_;
};

/// One listening port. On its path a POST hands a message to the MessageHandler and is answered
/// with JSON or an event stream, a GET opens a stream or upgrades to a WebSocket, a DELETE ends
/// a session; `sse_path` serves the transport of MCP 2024-11-05. Thread-safe.
class HttpServer {
 public:
  /// Listens and serves at once. `runtime` and `handler` outlive the server. Fails with
  /// kConnectionError and a text that names address, port and cause.
  [[nodiscard]] static core::Result<std::unique_ptr<HttpServer>> start(
      HttpRuntime& runtime, const http::HttpServerOptions& options, link::MessageHandler& handler,
      std::vector<http::Page> pages = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] http::StreamCounts stream_counts() const;

  /// Stops accepting and ends streams that only listen; requests in progress have `stop_grace` from
  /// now. To stop several servers within one grace, call this for all of them first, then stop
  /// each.
  void begin_stop();
  /// As begin_stop, then waits for requests in progress, at most until the grace is over, and
  /// closes everything. Afterwards the handler is not called any more; later replies are dropped.
  /// Neither function may be called from the handler, nor from two threads at once.
  void stop();

 private:
  HttpServer(std::shared_ptr<HttpFront> front, std::shared_ptr<ServerState> state,
             std::shared_ptr<Listener> listener, std::uint16_t port);

  std::shared_ptr<HttpFront> front_;
  std::shared_ptr<ServerState> state_;
  std::shared_ptr<Listener> listener_;
  std::uint16_t port_;
  std::chrono::steady_clock::time_point grace_ends_{};  ///< set when it begins to stop
};

}  // namespace league::transport::front
