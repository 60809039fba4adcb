#pragma once

#include "common/core/clock.h"

namespace league::rpc {

/// When a message came or went, on both clocks. A value.
struct TimingContext {
  core::Clock::Steady created{};
  core::UtcTimestamp system_time;  ///< the same instant for people, with microseconds

  [[nodiscard]] static TimingContext now(const core::Clock& clock) {
    return {clock.steady_now(), clock.utc_now()};
  }
  bool operator==(const TimingContext&) const = default;
};

}  // namespace league::rpc
