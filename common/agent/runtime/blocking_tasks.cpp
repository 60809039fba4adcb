#include "common/agent/runtime/blocking_tasks.h"

namespace league::agent::runtime {

BlockingTasks::BlockingTasks(std::size_t max_waiting)
    : max_waiting_(max_waiting), thread_([this](const std::stop_token& stop) { run(stop); }) {}

BlockingTasks::~BlockingTasks() {
  thread_.request_stop();
  thread_.join();
}

bool BlockingTasks::post(std::function<void()> task) {
  std::lock_guard lock(mutex_);
  if (waiting_.size() >= max_waiting_) return false;
  waiting_.push_back(std::move(task));
  changed_.notify_one();
  return true;
}

void BlockingTasks::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
    auto task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    if (stop.stop_requested()) return;
  }
}

}  // namespace league::agent::runtime
