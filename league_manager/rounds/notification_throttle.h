#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/core/timer.h"

namespace league::league_manager {

/// Tells of changes at once, but not more often than once in an interval: what changes meanwhile is
/// told together at its end. A league plays hundreds of matches a second, and thousands may watch.
/// Thread-safe.
class NotificationThrottle {
 public:
  /// `timer` outlives it. `tell` runs on the thread of `changed` or of the timer, never twice at a
  /// time; where it returns false nobody listened, and the next change is told at once.
  NotificationThrottle(core::Timer& timer, std::chrono::milliseconds interval,
                       std::function<bool()> tell);
  ~NotificationThrottle();
  NotificationThrottle(const NotificationThrottle&) = delete;
  NotificationThrottle& operator=(const NotificationThrottle&) = delete;

  void changed();
  /// Nothing is sent after this has returned.
  void end();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace league::league_manager
