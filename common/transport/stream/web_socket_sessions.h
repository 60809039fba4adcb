#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/transport/http/http_options.h"
#include "common/transport/link/detached_socket.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/stream/server_web_socket.h"

namespace league::transport {

/// The WebSockets of one server: each is served as a connection of messages. Thread-safe.
class WebSocketSessions {
 public:
  /// `loop` and `handler` outlive stop().
  WebSocketSessions(EventLoop& loop, const HttpServerOptions& options, MessageHandler& handler);
  ~WebSocketSessions();

  /// Answers the upgrade and serves the messages that follow.
  [[nodiscard]] TakeOver accept(WebSocketUpgrade upgrade);
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
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace league::transport
