#pragma once

#include <mutex>

#include "referee/delay_meter.h"

namespace league::testing {

/// A referee's delay as the test says.
class FixedDelay final : public referee::DelayMeter {
 public:
  [[nodiscard]] referee::OwnDelay worst_since(referee::Instant /*from*/) override {
    std::lock_guard lock(mutex_);
    return delay_;
  }
  void set(const referee::OwnDelay& delay) {
    std::lock_guard lock(mutex_);
    delay_ = delay;
  }

 private:
  std::mutex mutex_;
  referee::OwnDelay delay_;
};

}  // namespace league::testing
