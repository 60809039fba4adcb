#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/core/result.h"
#include "common/transport/line/line_connection.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"

namespace league::transport::line {

/// The address and the limits of a LineListener.
struct LineListenerOptions {
  std::string bind_address = "127.0.0.1";  ///< numeric
  std::uint16_t port = 0;  ///< 0: any that is free
  std::string unix_path;  ///< absolute; not empty: a Unix socket in place of TCP, mode 0600
  LineLimits limits;
  std::size_t max_connections = 5000;  ///< more are closed at once
  std::size_t max_connections_per_address = 64;  ///< not for loopback and Unix sockets
  std::size_t max_in_work = 32;  ///< requests of one connection
};

/// Accepts connections that carry JSON lines and passes their messages to a handler. Thread-safe.
class LineListener {
 public:
  /// `loop` and `handler` outlive it. A Unix socket's file is replaced if nobody listens on it any
  /// more. Fails with kConnectionError and a text that names the address and the cause.
  [[nodiscard]] static core::Result<std::unique_ptr<LineListener>> start(
      link::EventLoop& loop, const LineListenerOptions& options, link::MessageHandler& handler);
  /// As stop(), without grace.
  ~LineListener();
  LineListener(const LineListener&) = delete;
  LineListener& operator=(const LineListener&) = delete;

  /// Accepts no more connections and requests; running requests are answered. Returns at once.
  void begin_stop();
  /// Calls begin_stop and waits up to `grace` until all connections are closed; then closes the
  /// rest hard. Afterwards the handler is not called any more. Must not be called on the event
  /// loop's thread.
  void stop(std::chrono::milliseconds grace = std::chrono::milliseconds{2000});

  [[nodiscard]] std::uint16_t port() const;  ///< 0 for Unix sockets
  /// Its URL: `tcp://127.0.0.1:8101` or `unix:/run/league/bot.sock`.
  [[nodiscard]] const std::string& url() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  struct Impl;
  explicit LineListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace league::transport::line
