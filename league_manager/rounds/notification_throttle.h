#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "common/core/timer.h"

namespace league::league_manager::rounds {

/// Sends a notification of a change at once, but at most one per interval: later changes are
/// notified together at its end. A league plays hundreds of matches a second, and thousands may
/// watch. Held by a shared_ptr, since the timer's callback can outlive it. Thread-safe.
class NotificationThrottle : public std::enable_shared_from_this<NotificationThrottle> {
 public:
  /// `timer` outlives it. `tell` runs on the thread of `changed` or of the timer, never
  /// concurrently; if it returns false, nobody listened, and the next change is notified at once.
  NotificationThrottle(core::Timer& timer, std::chrono::milliseconds interval,
                       std::function<bool()> tell)
      : timer_(timer), interval_(interval), tell_(std::move(tell)) {}

  void changed();
  /// Nothing is sent after this has returned.
  void end();

 private:
  /// Needs the lock, so that `end` waits for a running notification.
  void tell_and_rest();
  void on_rested();

  core::Timer& timer_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;  // guards the rest
  std::function<bool()> tell_;  ///< empty after `end`
  bool is_resting_ = false;
  bool has_changed_ = false;
};

}  // namespace league::league_manager::rounds
