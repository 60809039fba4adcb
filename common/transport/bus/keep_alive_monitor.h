#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/core/clock.h"
#include "common/core/timer.h"

namespace league::transport::bus {

/// Considers a peer gone that has stayed silent for twice its keep-alive interval. A delayed
/// process does not blame its peer: silence counts only while this process's own timer is on time.
/// Thread-safe. Source: the design for stateless sessions, §3.5.
class KeepAliveMonitor {
 public:
  using Callback = std::function<void()>;

  /// Begins to watch. `on_silence` runs on the timer's thread: once at first, then again after
  /// every two intervals of further silence. Both references outlive it.
  KeepAliveMonitor(const core::Clock& clock, core::Timer& timer, std::chrono::milliseconds interval,
                   Callback on_silence);
  /// Afterwards `on_silence` does not run, unless it is the one that runs the destructor.
  ~KeepAliveMonitor();
  KeepAliveMonitor(const KeepAliveMonitor&) = delete;
  KeepAliveMonitor& operator=(const KeepAliveMonitor&) = delete;

  /// The peer has given a sign of life. True if it was considered gone.
  bool beat();
  [[nodiscard]] bool is_silent() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::transport::bus
