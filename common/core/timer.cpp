#include "common/core/timer.h"

#include <utility>

namespace league::core {

ThreadTimer::ThreadTimer() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

ThreadTimer::~ThreadTimer() {
  thread_.request_stop();
  thread_.join();
}

Timer::Id ThreadTimer::schedule(std::chrono::nanoseconds delay, Function function) {
  std::lock_guard lock(mutex_);
  Id id = next_id_++;
  Due due = std::chrono::steady_clock::now() + std::chrono::duration_cast<Due::duration>(delay);
  bool is_first = waiting_.empty() || due < waiting_.begin()->first.first;
  waiting_.emplace(std::pair{due, id}, std::move(function));
  due_.emplace(id, due);
  if (is_first) changed_.notify_one();
  return id;
}

bool ThreadTimer::cancel(Id id) {
  Function forgotten;  // destroyed outside the lock: what it holds may call back into the timer
  std::lock_guard lock(mutex_);
  auto due = due_.find(id);
  if (due == due_.end()) return false;
  auto entry = waiting_.find({due->second, id});
  forgotten = std::move(entry->second);
  waiting_.erase(entry);
  due_.erase(due);
  return true;
}

void ThreadTimer::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (waiting_.empty()) {
      changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
      continue;
    }
    Due due = waiting_.begin()->first.first;
    if (std::chrono::steady_clock::now() < due) {
      changed_.wait_until(lock, stop, due,
                          [&] { return waiting_.empty() || waiting_.begin()->first.first < due; });
      continue;
    }
    auto first = waiting_.extract(waiting_.begin());
    due_.erase(first.key().second);
    lock.unlock();
    first.mapped()();
    first.mapped() = nullptr;
    lock.lock();
  }
}

}  // namespace league::core
