#pragma once

#include <mutex>

#include "common/agent/runtime/delay_meter.h"

namespace league::testing {

/// A program's own delay as the test says.
class FixedDelay final : public agent::runtime::DelayMeter {
 public:
  [[nodiscard]] core::OwnDelay worst_since(core::Clock::Steady /*from*/,
                                           agent::runtime::Route /*route*/) override {
    std::lock_guard lock(mutex_);
    return delay_;
  }
  void set(const core::OwnDelay& delay) {
    std::lock_guard lock(mutex_);
    delay_ = delay;
  }

 private:
  std::mutex mutex_;
  core::OwnDelay delay_;
};

}  // namespace league::testing
