#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "common/task/task.h"

namespace league::task {

/// Where tasks wait until something is known, and go on with it. Used on one executor only.
template <typename T>
class Signal {
 public:
  /// Waits for the next open(). The signal outlives the task.
  [[nodiscard]] Task<T> wait() {
    return called_back<T>([this](auto go_on) { enter(std::move(go_on)); });
  }
  /// Calls `go_on` at the next open().
  void enter(std::function<void(T)> go_on) { waiting_.push_back(std::move(go_on)); }
  /// Lets everything go on that waits now.
  void open(const T& value) {
    for (const auto& go_on : std::exchange(waiting_, {})) go_on(value);
  }

 private:
  std::vector<std::function<void(T)>> waiting_;
};

}  // namespace league::task
