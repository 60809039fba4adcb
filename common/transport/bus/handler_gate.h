#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace league::transport {

/// Stands between a bus and the handler of one subscription: once closed, it runs the handler no
/// more and destroys it. Thread-safe.
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
    // Whatever the handler holds is let go of without the lock: it may close this very gate.
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
    // Who waits for its turn has none any more. It must not wait for the handler that closes: that
    // one may be about to wait for it.
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
  int depth_ = 0;  ///< more than one: a handler runs what delivers to it
  bool is_closed_ = false;
};

}  // namespace league::transport
