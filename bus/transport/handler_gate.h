#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace league::transport::bus {

/// Protects the handler of one subscription: once closed, it no longer runs the handler, and
/// destroys it. Thread-safe.
template <typename Argument>
class HandlerGate {
 public:
  explicit HandlerGate(std::function<void(Argument)> handler) : handler_(std::move(handler)) {}

  /// Runs the handler unless the gate is closed; waits if it is running on another thread. The
  /// handler must not throw, since its caller may be a C library.
  void run(Argument argument) noexcept {
    auto self = std::this_thread::get_id();
    {
      std::unique_lock lock(mutex_);
      idle_.wait(lock, [&] { return is_closed_ || depth_ == 0 || runner_ == self; });
      if (is_closed_) return;
      ++depth_;
      runner_ = self;
    }
    handler_(std::move(argument));
    // The handler is destroyed without the lock, because its destructor may close this gate.
    std::function<void(Argument)> done;
    {
      std::lock_guard lock(mutex_);
      if (--depth_ > 0) return;
      runner_ = {};
      if (is_closed_) done = std::exchange(handler_, nullptr);
    }
    idle_.notify_all();
  }

  /// Returns when the handler is no longer running, or at once when called by the handler. The
  /// caller must not hold a lock that the handler takes.
  void close() {
    std::function<void(Argument)> done;
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    // Wakes the threads that wait to run the handler; they now return. This must happen even if the
    // running handler itself is closing, because it may then wait for those threads.
    idle_.notify_all();
    if (depth_ > 0 && runner_ == std::this_thread::get_id()) return;
    idle_.wait(lock, [&] { return depth_ == 0; });
    done = std::exchange(handler_, nullptr);
    lock.unlock();
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::function<void(Argument)> handler_;
  std::thread::id runner_;
  int depth_ = 0;  ///< greater than one if the handler has caused another delivery to itself
  bool is_closed_ = false;
};

}  // namespace league::transport::bus
