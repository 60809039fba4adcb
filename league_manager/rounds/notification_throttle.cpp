#include "league_manager/rounds/notification_throttle.h"

namespace league::league_manager::rounds {

void NotificationThrottle::tell_and_rest() {
  has_changed_ = false;
  is_resting_ = tell_();
  if (!is_resting_) return;
  timer_.schedule(interval_, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->on_rested();
  });
}

void NotificationThrottle::on_rested() {
  std::lock_guard lock(mutex_);
  is_resting_ = false;
  if (tell_ && has_changed_) tell_and_rest();
}

void NotificationThrottle::end() {
  std::lock_guard lock(mutex_);
  tell_ = nullptr;
}

void NotificationThrottle::changed() {
  std::lock_guard lock(mutex_);
  if (is_resting_) {
    has_changed_ = true;
  } else if (tell_) {
    tell_and_rest();
  }
}

}  // namespace league::league_manager::rounds
