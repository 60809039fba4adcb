#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "common/agent/runtime/settings.h"
#include "common/core/clock.h"

namespace league::agent::peers {

/// Stops calls to peers that keep failing: after several failures in a row a peer's breaker opens
/// for a while, then one trial call is let through. Used only for broadcasts and notifications,
/// never for a game call (protocol §6). Thread-safe.
class CircuitBreaker {
 public:
  /// `clock` must outlive the breaker.
  CircuitBreaker(const core::Clock& clock, runtime::Settings::Breaker settings)
      : clock_(clock), settings_(settings) {}

  /// Whether a call to `peer` may be made now. After the open time, only one caller gets true until
  /// it has reported its result.
  [[nodiscard]] bool allow(const std::string& peer);
  void on_success(const std::string& peer);
  void on_failure(const std::string& peer);

 private:
  struct State {
    int failures = 0;
    core::Clock::Steady open_until{};
    bool trial_running = false;
  };

  const core::Clock& clock_;
  const runtime::Settings::Breaker settings_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, State> peers_;
};

}  // namespace league::agent::peers
