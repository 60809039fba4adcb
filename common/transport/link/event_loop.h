#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/core/result.h"

namespace boost::asio {  // NOLINT(readability-identifier-naming): not ours
class io_context;
}

namespace league::transport::link {

/// The one thread of a process that serves all long-lived connections: event streams,
/// WebSockets, lines on sockets and pipes. What runs on it must not block. Thread-safe.
class EventLoop {
 public:
  /// Fails with kInternalError when the system refuses an event loop.
  [[nodiscard]] static core::Result<std::unique_ptr<EventLoop>> start();
  /// As stop().
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// For asynchronous operations of Boost.Asio; only common/transport uses it. Handlers run on the
  /// event loop's thread, one after the other, so objects that live there need no lock.
  [[nodiscard]] boost::asio::io_context& context();
  /// Runs `task` on the event loop's thread, soon; after stop() it is dropped.
  void post(std::function<void()> task);
  [[nodiscard]] bool is_loop_thread() const;
  /// Ends the thread; operations that are still pending are dropped, with everything that their
  /// handlers own. All connections on this event loop must be closed before.
  void stop();

 private:
  EventLoop();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace league::transport::link
