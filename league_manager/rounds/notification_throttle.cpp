#include "league_manager/rounds/notification_throttle.h"

#include <mutex>
#include <utility>

namespace league::league_manager {

/// Shared with the timer, whose callback can outlive the throttle.
struct NotificationThrottle::State : std::enable_shared_from_this<State> {
  State(core::Timer& its_timer, std::chrono::milliseconds its_interval,
        std::function<bool()> its_tell)
      : timer(its_timer), interval(its_interval), tell(std::move(its_tell)) {}

  /// Needs the lock, so that `end` waits for a running notification.
  void tell_and_rest() {
    has_changed = false;
    is_resting = tell();
    if (!is_resting) return;
    timer.schedule(interval, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->on_rested();
    });
  }
  void on_rested() {
    std::lock_guard lock(mutex);
    is_resting = false;
    if (tell && has_changed) tell_and_rest();
  }

  core::Timer& timer;
  const std::chrono::milliseconds interval;
  std::mutex mutex;  // guards the rest
  std::function<bool()> tell;  ///< empty after `end`
  bool is_resting = false;
  bool has_changed = false;
};

NotificationThrottle::NotificationThrottle(core::Timer& timer, std::chrono::milliseconds interval,
                                           std::function<bool()> tell)
    : state_(std::make_shared<State>(timer, interval, std::move(tell))) {}

NotificationThrottle::~NotificationThrottle() { end(); }

void NotificationThrottle::end() {
  std::lock_guard lock(state_->mutex);
  state_->tell = nullptr;
}

void NotificationThrottle::changed() {
  std::lock_guard lock(state_->mutex);
  if (state_->is_resting) {
    state_->has_changed = true;
  } else if (state_->tell) {
    state_->tell_and_rest();
  }
}

}  // namespace league::league_manager
