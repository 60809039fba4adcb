#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "common/core/clock.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::memory {

/// The queue of deliveries of memory connections. Only its run functions do anything, so tests are
/// deterministic. Thread-safe, but only one thread should run it.
class MemorySteps {
 public:
  void post(std::function<void()> step);
  /// Takes the next step; false if none waits.
  bool run_one();
  /// Runs until none waits; returns how many steps there were.
  std::size_t run_until_idle();

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> steps_;
};

using MessageConnectionPair =
    std::pair<std::shared_ptr<link::MessageConnection>, std::shared_ptr<link::MessageConnection>>;

/// The client's and the server's end of one connection inside the process: what one sends the
/// other receives, in order. Each
/// delivery is one function given to `post`, which runs them later, one at a time, and in order:
/// MemorySteps, or an event loop. `clock` outlives the connections.
[[nodiscard]] MessageConnectionPair memory_connection_pair(
    const core::Clock& clock, std::function<void(std::function<void()>)> post);

}  // namespace league::transport::memory
