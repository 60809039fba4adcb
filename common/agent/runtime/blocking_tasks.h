#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace league::agent {

/// One thread for what may block, such as looking up a host name, so that the threads of the event
/// loop do not. At most so many tasks wait. Thread-safe. The destructor drops what waits and joins.
class BlockingTasks {
 public:
  explicit BlockingTasks(std::size_t max_waiting = 256);
  ~BlockingTasks();
  BlockingTasks(const BlockingTasks&) = delete;
  BlockingTasks& operator=(const BlockingTasks&) = delete;

  /// False when too many wait; the task is then not taken.
  [[nodiscard]] bool post(std::function<void()> task);

 private:
  void run(const std::stop_token& stop);

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace league::agent
