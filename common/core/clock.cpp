#include "common/core/clock.h"

namespace league::core {

Clock::Steady SystemClock::steady_now() const { return std::chrono::steady_clock::now(); }

UtcTimestamp SystemClock::utc_now() const {
  return UtcTimestamp(
      std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()));
}

}  // namespace league::core
