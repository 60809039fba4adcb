#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/core/timer.h"

namespace league::league_manager {

/// Sends a notification of a change at once, but at most one per interval: later changes are
/// notified together at its end. A league plays hundreds of matches a second, and thousands may
/// watch. Thread-safe.
class NotificationThrottle {
 public:
  /// `timer` outlives it. `tell` runs on the thread of `changed` or of the timer, never
  /// concurrently; if it returns false, nobody listened, and the next change is notified at once.
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
