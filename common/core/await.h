#pragma once

#include <future>
#include <utility>

namespace league::core {

/// Calls `start` with a function that takes a T, and blocks until that function was called, once,
/// on any thread. Returns the T.
template <typename T, typename Start>
T await(const Start& start) {
  std::promise<T> promise;
  auto future = promise.get_future();
  start([&promise](T value) { promise.set_value(std::move(value)); });
  return future.get();
}

}  // namespace league::core
