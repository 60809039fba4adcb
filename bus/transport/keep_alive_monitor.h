#pragma once

#include <chrono>
#include <utility>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/task/task.h"

namespace league::transport::bus {

/// Considers a peer gone that has stayed silent for twice its keep-alive interval. A delayed
/// process does not blame its peer: silence counts only while this process's own timer is on time.
/// Used on one executor only; outlives its tasks. Source: the design for stateless sessions, §3.5.
class KeepAliveMonitor {
 public:
  /// Both references outlive it.
  KeepAliveMonitor(const core::Clock& clock, core::Timer& timer)
      : clock_(clock), timer_(timer), last_beat_(clock.steady_now()) {}

  /// The peer has given a sign of life. True if it was considered gone.
  bool beat() {
    last_beat_ = clock_.steady_now();
    return std::exchange(is_silent_, false);
  }
  /// Waits until the peer is considered gone; if it is already, for two intervals of further
  /// silence.
  [[nodiscard]] task::Task<void> silence(std::chrono::milliseconds interval) {
    for (;;) {
      const auto wanted = clock_.steady_now() + interval / 2;
      co_await task::sleep_for(timer_, interval / 2);
      const auto now = clock_.steady_now();
      if (now > wanted + interval / 2) last_beat_ = now;  // our own timer was late
      if (now < last_beat_ + 2 * interval) continue;
      is_silent_ = true;
      last_beat_ = now;
      co_return;
    }
  }
  [[nodiscard]] bool is_silent() const { return is_silent_; }

 private:
  const core::Clock& clock_;
  core::Timer& timer_;
  core::Clock::Steady last_beat_;
  bool is_silent_ = false;
};

}  // namespace league::transport::bus
