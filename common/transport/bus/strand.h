#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace league::transport::bus {

/// Runs tasks one at a time and in order, on the threads that submit them: a task runs at once if
/// no other is running, otherwise after the waiting tasks, on the thread that is already running
/// tasks. No lock is held while a task runs, so tasks may submit more. Thread-safe.
class Strand {
 public:
  void run(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(std::move(task));
    if (is_running_) return;
    is_running_ = true;
    while (!waiting_.empty()) {
      auto next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next();
      next = nullptr;
      lock.lock();
    }
    is_running_ = false;
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> waiting_;
  bool is_running_ = false;
};

}  // namespace league::transport::bus
