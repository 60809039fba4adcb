#include "common/task/executor.h"

#include <boost/asio/system_executor.hpp>
#include <deque>
#include <mutex>
#include <thread>

namespace league::task {

struct Executor::Queue {
  std::mutex mutex;
  std::deque<std::function<void()>> waiting;
  std::thread::id runner;  ///< the thread that runs the functions; none while there are none
};

Executor::Executor() : queue_(std::make_shared<Queue>()) {}

void Executor::post(std::function<void()> function) const {
  const auto queue = queue_;  // The function may destroy this object.
  std::unique_lock lock(queue->mutex);
  queue->waiting.push_back(std::move(function));
  if (queue->runner != std::thread::id()) return;
  queue->runner = std::this_thread::get_id();
  while (!queue->waiting.empty()) {
    auto next = std::move(queue->waiting.front());
    queue->waiting.pop_front();
    lock.unlock();
    next();
    next = nullptr;  // What it owns may post when it is destroyed.
    lock.lock();
  }
  queue->runner = std::thread::id();
}

bool Executor::is_here() const {
  std::lock_guard lock(queue_->mutex);
  return queue_->runner == std::this_thread::get_id();
}

boost::asio::execution_context& Executor::query(boost::asio::execution::context_t) {
  // Nothing is ever run there: no timer or socket uses this executor.
  return boost::asio::query(boost::asio::system_executor(), boost::asio::execution::context);
}

}  // namespace league::task
