#pragma once

#include <algorithm>
#include <chrono>

namespace league::core {

/// How late this program itself was at the worst during some interval.
struct OwnDelay {
  std::chrono::nanoseconds scheduling{};  ///< a thread that was to run ran so much later
  /// A call to ourselves, the way others are called, took so long.
  std::chrono::nanoseconds canary{};

  bool operator==(const OwnDelay&) const = default;
};

/// So late may we be ourselves with something that has `limit`: 5 % of it, and 50 ms at least.
[[nodiscard]] inline std::chrono::nanoseconds allowed_own_delay(std::chrono::nanoseconds limit) {
  constexpr int kShare = 20;
  return std::max<std::chrono::nanoseconds>(limit / kShare, std::chrono::milliseconds(50));
}

/// True if we were later than that: what did not come within `limit` says nothing about others.
[[nodiscard]] inline bool was_too_late(const OwnDelay& own, std::chrono::nanoseconds limit) {
  return std::max(own.scheduling, own.canary) > allowed_own_delay(limit);
}

}  // namespace league::core
