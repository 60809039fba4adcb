#pragma once

#include <chrono>

#include "common/core/timestamp.h"

namespace league::core {

/// Time as a dependency, so that a whole league can be played in virtual time. Implementations are
/// thread-safe.
class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  /// Monotonic; for limits, delays and durations.
  [[nodiscard]] virtual Steady steady_now() const = 0;
  /// Wall time; for what is written down.
  [[nodiscard]] virtual UtcTimestamp utc_now() const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Steady steady_now() const override;
  [[nodiscard]] UtcTimestamp utc_now() const override;
};

}  // namespace league::core
