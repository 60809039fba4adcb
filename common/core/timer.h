#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "common/core/clock.h"

namespace league::core {

/// Runs functions later. Implementations are thread-safe. Functions run one at a time, never while
/// a lock of the timer is held, and must be short.
class Timer {
 public:
  using Id = std::uint64_t;  ///< never 0
  using Function = std::function<void()>;

  virtual ~Timer() = default;
  /// Runs `function` once, `delay` from now.
  virtual Id schedule(std::chrono::nanoseconds delay, Function function) = 0;
  /// Removes the function; false if it has begun or is unknown. Does not wait for a function that
  /// is running.
  virtual bool cancel(Id id) = 0;
};

/// A Timer with a thread of its own. The destructor drops waiting functions and joins the thread.
class ThreadTimer final : public Timer {
 public:
  ThreadTimer();
  ~ThreadTimer() override;
  ThreadTimer(const ThreadTimer&) = delete;
  ThreadTimer& operator=(const ThreadTimer&) = delete;

  Id schedule(std::chrono::nanoseconds delay, Function function) override;
  bool cancel(Id id) override;

 private:
  using Due = std::chrono::steady_clock::time_point;
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::pair<Due, Id>, Function> waiting_;
  std::unordered_map<Id, Due> due_;
  Id next_id_ = 1;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace league::core
