#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/rate_limiter.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

struct BusSessionsOptions {
  std::string league_id;
  std::chrono::milliseconds keep_alive{5000};  ///< 0: none are sent, and silence is ignored
  std::size_t max_sessions = 20'000;
  /// Sessions that have a bus connection of their own, so that traffic of others cannot delay
  /// theirs. They are attached permanently. Null and empty: there are none.
  Bus* first_bus = nullptr;
  std::set<link::BusSession> served_first = {};
  /// Limits for each sender, see BusListenerOptions. A sender without a credential is charged by
  /// session.
  std::shared_ptr<link::RateLimiter> limiter = nullptr;
  /// on_gone: an agent that has sent keep-alives has been silent for three times their interval.
  /// on_back: such an agent has sent something again. Time in which this side had no broker does
  /// not count as silence. Both run on a thread of the bus or the timer.
  std::function<void(const link::BusSession&)> on_gone = nullptr;
  std::function<void(const link::BusSession&)> on_back = nullptr;
};

/// The server's side of a league's sessions: answers `mcp.discovery`, passes what the attached
/// sessions send to the handler, and keeps the sessions alive. No state survives a restart, since
/// agents attach again. Thread-safe. Source: docs/distributed.md.
class BusSessions {
 public:
  /// Stops without a grace period. Not called by a callback.
  virtual ~BusSessions() = default;
  /// All references must outlive the object. Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<BusSessions>> start(
      Bus& bus, link::MessageHandler& handler, const core::Clock& clock, core::Timer& timer,
      core::RandomSource& random, BusSessionsOptions options);

  /// Listens to a known session as if it had attached.
  virtual core::Result<void> attach(const link::BusSession& session) = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Accepts no more messages.
  virtual void begin_stop() = 0;
  /// Calls begin_stop and waits up to `grace` until everything is answered. Afterwards neither the
  /// handler nor a callback runs, except one that called this.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace league::transport::bus
