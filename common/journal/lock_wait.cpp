#include "common/journal/lock_wait.h"

#include <sqlite3.h>

namespace league::journal {

void LockWait::install(sqlite3* database) {
  sqlite3_busy_handler(database, &LockWait::on_busy, this);
}

void LockWait::give_up() {
  std::lock_guard lock(mutex_);
  gives_up_ = true;
  given_up_.notify_all();
}

/// Whether SQLite shall try again, for the `times`-th time.
int LockWait::on_busy(void* self, int times) {
  constexpr std::chrono::milliseconds kPause{20};
  constexpr std::chrono::seconds kUntilTold{2};
  constexpr std::chrono::seconds kPatience{5};
  auto& wait = *static_cast<LockWait*>(self);
  const std::chrono::milliseconds waited = times * kPause;
  {
    std::unique_lock lock(wait.mutex_);
    if (wait.gives_up_ && waited > kPatience) return 0;
    wait.given_up_.wait_for(lock, kPause);
  }
  if (times > 0 && waited % kUntilTold == std::chrono::milliseconds(0))
    wait.tell_(std::chrono::duration_cast<std::chrono::seconds>(waited));
  return 1;
}

}  // namespace league::journal
