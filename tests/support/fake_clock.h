#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "common/core/clock.h"
#include "common/core/timer.h"

namespace league::testing {

/// A clock and timer that move only when the test says so. Starts at 2025-01-15T10:30:00Z.
/// Thread-safe; functions run on the thread that advances.
class FakeTime final : public core::Clock, public core::Timer {
 public:
  [[nodiscard]] Steady steady_now() const override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  [[nodiscard]] core::UtcTimestamp utc_now() const override {
    std::lock_guard lock(mutex_);
    using namespace std::chrono;
    auto since_start = duration_cast<microseconds>(now_ - Steady{hours{1}});
    return core::UtcTimestamp(core::UtcTimestamp::TimePoint(seconds{1736937000}) + since_start);
  }

  Id schedule(std::chrono::nanoseconds delay, Function function) override {
    std::lock_guard lock(mutex_);
    Id id = next_id_++;
    waiting_.emplace(std::pair{now_ + delay, id}, std::move(function));
    return id;
  }
  bool cancel(Id id) override {
    std::lock_guard lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      if (it->first.second != id) continue;
      waiting_.erase(it);
      return true;
    }
    return false;
  }

  /// Moves time forward, running what falls due in order.
  void advance(std::chrono::nanoseconds by) {
    std::unique_lock lock(mutex_);
    Steady target = now_ + by;
    while (!waiting_.empty() && waiting_.begin()->first.first <= target) {
      auto entry = waiting_.extract(waiting_.begin());
      now_ = std::max(now_, entry.key().first);
      lock.unlock();
      entry.mapped()();
      entry.mapped() = nullptr;  // what it holds may end without the lock, as with a ThreadTimer
      lock.lock();
    }
    now_ = target;
  }
  /// Moves time forward and runs nothing, as on a machine that stood still.
  void jump(std::chrono::nanoseconds by) {
    std::lock_guard lock(mutex_);
    now_ += by;
  }
  /// Jumps to the next waiting function and runs it; false if none waits.
  bool advance_to_next() {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) return false;
    auto entry = waiting_.extract(waiting_.begin());
    now_ = std::max(now_, entry.key().first);
    lock.unlock();
    entry.mapped()();
    return true;
  }
  /// Drops what waits without running it, while what it refers to is still there.
  void clear() {
    std::unique_lock lock(mutex_);
    auto dropped = std::move(waiting_);
    waiting_.clear();
    lock.unlock();
  }
  [[nodiscard]] std::size_t waiting() const {
    std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  mutable std::mutex mutex_;
  Steady now_{std::chrono::hours{1}};
  std::map<std::pair<Steady, Id>, Function> waiting_;
  Id next_id_ = 1;
};

}  // namespace league::testing
