#pragma once

#include <algorithm>
#include <chrono>

namespace league::core {

/// The worst delay of this program itself during an interval.
struct OwnDelay {
  std::chrono::nanoseconds scheduling{};  ///< how late a thread ran that was due
  /// How long a call to ourselves took, made in the same way as calls to peers.
  std::chrono::nanoseconds canary{};
  /// How long the manager kept a call at a seat by itself (protocol §10).
  std::chrono::nanoseconds seat{};

  bool operator==(const OwnDelay&) const = default;
};

/// How late we may be ourselves with a call that has this `limit`: 5 % of it, but at least 50 ms.
[[nodiscard]] inline std::chrono::nanoseconds allowed_own_delay(std::chrono::nanoseconds limit) {
  constexpr int kShare = 20;
  return std::max<std::chrono::nanoseconds>(limit / kShare, std::chrono::milliseconds(50));
}

/// True if we were later than that. Then an answer that did not arrive within `limit` is no
/// evidence against the peer.
[[nodiscard]] inline bool was_too_late(const OwnDelay& own, std::chrono::nanoseconds limit) {
  return std::max({own.scheduling, own.canary, own.seat}) > allowed_own_delay(limit);
}

}  // namespace league::core
