#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/core/result.h"

namespace boost::asio {  // NOLINT(readability-identifier-naming): not ours
class io_context;
}

namespace league::transport {

/// The one thread of a process that serves all long-lived connections: streams of events,
/// WebSockets, lines on sockets and pipes. What runs on it must not block. Thread-safe.
class Hub {
 public:
  /// Fails with kInternalError when the system refuses an event loop.
  [[nodiscard]] static core::Result<std::unique_ptr<Hub>> start();
  /// As stop().
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  /// For asynchronous operations of Boost.Asio; only common/transport uses it. Handlers run on the
  /// hub's thread, one after the other, so objects that live there need no lock.
  [[nodiscard]] boost::asio::io_context& context();
  /// Runs `task` on the hub's thread, soon; after stop() it is dropped.
  void post(std::function<void()> task);
  [[nodiscard]] bool is_hub_thread() const;
  /// Ends the thread; operations that still wait are dropped with what their handlers own. Whoever
  /// has connections here closes them first.
  void stop();

 private:
  Hub();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace league::transport
