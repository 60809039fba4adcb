#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace league::agent::runtime {

/// One thread for tasks that may block, such as resolving a host name, so that the event loop's
/// threads do not block. The number of waiting tasks is limited. Thread-safe. The destructor drops
/// waiting tasks and joins.
class BlockingTasks {
 public:
  explicit BlockingTasks(std::size_t max_waiting = 256);
  ~BlockingTasks();
  BlockingTasks(const BlockingTasks&) = delete;
  BlockingTasks& operator=(const BlockingTasks&) = delete;

  /// False if too many tasks are waiting; the task is then not queued.
  [[nodiscard]] bool post(std::function<void()> task);

 private:
  void run(const std::stop_token& stop);

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> waiting_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace league::agent::runtime
