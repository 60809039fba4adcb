#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

struct sqlite3;

namespace league::journal {

/// Waits for a database that another program has locked, for as long as it takes, and tells that
/// every two seconds. The database must be closed before this ends. Thread-safe.
class LockWait {
 public:
  /// `tell` gets the time so far, on the thread that waits.
  explicit LockWait(std::function<void(std::chrono::seconds)> tell) : tell_(std::move(tell)) {}

  /// From now on calls of this connection wait.
  void install(sqlite3* database);
  /// Whoever waits fails five seconds after it began to.
  void give_up();

 private:
  static int on_busy(void* self, int times);

  const std::function<void(std::chrono::seconds)> tell_;
  std::mutex mutex_;
  std::condition_variable given_up_;
  bool gives_up_ = false;  // guarded by mutex_
};

}  // namespace league::journal
