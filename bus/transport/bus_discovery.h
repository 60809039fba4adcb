#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/task/task.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// What the manager that answered said.
struct BusAttachment {
  std::string league_id;
  std::chrono::milliseconds keep_alive{0};  ///< 0: it sends none
};

/// Finds the league's manager through `mcp.discovery` and makes it listen to a session. Repeats the
/// question until it is answered: a manager that serves another league stays silent, and one that
/// is starting is not there yet. Outlives its tasks. Thread-safe. Source: the design for stateless
/// sessions, §4.2.
class BusDiscovery {
 public:
  explicit BusDiscovery(SessionOnBus on) : on_(std::move(on)) {}

  /// Attaches to `league`, or, if that is empty, to the first manager that answers.
  /// kConnectionError: nobody has answered by `deadline`. Runs where it is awaited.
  [[nodiscard]] task::Task<core::Result<BusAttachment>> attach(std::string league,
                                                               core::Clock::Steady deadline) const;

 private:
  const SessionOnBus on_;
};

/// The payload of a request to attach.
[[nodiscard]] std::string attach_request(std::uint64_t id);
/// Reads the answer; kInvalidReply with the reason if it cannot be used.
[[nodiscard]] core::Result<BusAttachment> read_attachment(std::string_view payload);

/// Considers a peer gone that has stayed silent for twice its keep-alive interval. A delayed
/// process does not blame its peer: silence counts only while this process's own timer is on time.
/// Used on one executor only; outlives its tasks. Source: docs/distributed.md.
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
