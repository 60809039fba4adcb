#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/transport/http/http_options.h"
#include "common/transport/link/detached_socket.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/served_connection.h"
#include "common/transport/stream/server_web_socket.h"

namespace league::transport::stream {

/// The WebSockets of one server: each is served as a connection of messages. Thread-safe; held by
/// shared_ptr.
class WebSocketSessions : public std::enable_shared_from_this<WebSocketSessions> {
 public:
  /// `loop` and `handler` outlive stop().
  WebSocketSessions(link::EventLoop& loop, const http::HttpServerOptions& options,
                    link::MessageHandler& handler);

  /// Answers the upgrade and serves the messages that follow.
  [[nodiscard]] link::TakeOver accept(WebSocketUpgrade upgrade);
  /// Stops reading; each WebSocket closes when its pending messages are answered.
  void begin_stop();
  /// Closes all, and waits until the handler knows. Must not be called on the event loop.
  void stop();
  struct Counts {
    std::size_t open = 0;
    std::uint64_t opened = 0;
    std::uint64_t dropped = 0;  ///< for reading too slowly
  };
  [[nodiscard]] Counts counts();

 private:
  struct Session {
    std::shared_ptr<link::WireConnection> socket;
    std::shared_ptr<link::ServedConnection> served = nullptr;  ///< null while it is being set up
  };

  void serve(link::DetachedSocket socket, const WebSocketUpgrade& upgrade);
  void forget(std::uint64_t number);
  std::vector<Session> all();

  link::EventLoop& loop_;
  link::MessageHandler& handler_;
  const std::size_t max_in_work_;
  const ServerWebSocketOptions socket_options_;
  std::mutex mutex_;  // guards the rest; never held while a connection or the handler is called
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::unordered_map<std::uint64_t, Session> sessions_;
  std::uint64_t opened_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace league::transport::stream
