#pragma once

#include <memory>

#include "common/agent/runtime/bus_echo.h"
#include "common/core/clock.h"
#include "common/core/own_delay.h"
#include "common/core/timer.h"
#include "common/transport/front/http_server.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/endpoint.h"

namespace league::agent {

/// How a peer is reached.
enum class Route { kDirect, kBus };

[[nodiscard]] inline Route route_to(const transport::Endpoint& peer) {
  return peer.scheme == "nats" ? Route::kBus : Route::kDirect;
}

/// Knows how late the program itself has been. Implementations are thread-safe.
class DelayMeter {
 public:
  virtual ~DelayMeter() = default;
  /// The worst since `from`, including what is late just now, towards peers that are reached by
  /// `route`. Looks back ten minutes.
  [[nodiscard]] virtual core::OwnDelay worst_since(core::Clock::Steady from, Route route) = 0;
};

/// Measures all the time: a timer of 25 ms that should be on time, and four times a second a
/// canary, a call to a server of its own in this process, through the caller and the threads that
/// game calls use. Its calls stand in no log: they are nobody's messages. On a bus also a BusEcho,
/// which counts towards peers on the bus as the canary does.
class ProbingDelayMeter final : public DelayMeter {
 public:
  /// `caller` calls without a record; `bus` is null where the program is on none. All five outlive
  /// the meter, and `caller` and `timer` are shut down before it goes. Fails when no port is free
  /// on the loopback interface.
  [[nodiscard]] static core::Result<std::unique_ptr<ProbingDelayMeter>> start(
      transport::HttpRuntime& runtime, transport::Caller& caller, core::Timer& timer,
      const core::Clock& clock, transport::Bus* bus);
  ~ProbingDelayMeter() override;

  [[nodiscard]] core::OwnDelay worst_since(core::Clock::Steady from, Route route) override;
  /// Closes the canary's server and the echo. Call before the runtime and the bus end.
  void stop();

 private:
  struct Probe;
  explicit ProbingDelayMeter(std::shared_ptr<Probe> probe);

  std::shared_ptr<Probe> probe_;
  std::unique_ptr<BusEcho> echo_;
};

}  // namespace league::agent
