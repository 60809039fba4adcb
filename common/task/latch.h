#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "common/task/task.h"

namespace league::task {

/// A number of things that are still to come, and that tasks wait for. Used on one executor only;
/// outlives the tasks that wait.
class Latch {
 public:
  explicit Latch(std::size_t count) : count_(count) {}

  /// One of them has come. More calls than the number do nothing.
  void count_down();
  /// Waits until all have come.
  [[nodiscard]] Task<void> wait();
  /// Waits until all have come, but no longer than `limit`; whether they have. `timer` outlives the
  /// task.
  [[nodiscard]] Task<bool> wait_for(core::Timer& timer, std::chrono::nanoseconds limit) {
    return wait_until(&timer, limit);
  }

 private:
  Task<bool> wait_until(core::Timer* timer, std::chrono::nanoseconds limit);

  std::size_t count_;
  std::vector<std::function<void(bool)>> waiting_;
};

}  // namespace league::task
