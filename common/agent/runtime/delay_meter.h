#pragma once

#include <memory>

#include "common/core/clock.h"
#include "common/core/own_delay.h"
#include "common/core/timer.h"
#include "common/transport/front/http_server.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/endpoint.h"

namespace league::agent::runtime {

/// How a peer is reached.
enum class Route { kDirect, kBus };

[[nodiscard]] inline Route route_to(const transport::link::Endpoint& peer) {
  return peer.scheme == "nats" ? Route::kBus : Route::kDirect;
}

/// Measures how late this program itself has been. Implementations are thread-safe.
class DelayMeter {
 public:
  virtual ~DelayMeter() = default;
  /// The worst delay since `from`, including any current delay, for peers that are reached by
  /// `route`. Covers the last ten minutes.
  [[nodiscard]] virtual core::OwnDelay worst_since(core::Clock::Steady from, Route route) = 0;
};

/// Measures how long the broker of a bus takes to answer. Thread-safe.
class BrokerDelay {
 public:
  virtual ~BrokerDelay() = default;
  /// The longest time that the broker has taken since `from`, including a request that is still
  /// pending. Covers the last ten minutes.
  [[nodiscard]] virtual std::chrono::nanoseconds worst_since(core::Clock::Steady from) const = 0;
  /// Ends the measuring. May block for up to a second if the broker does not answer.
  virtual void stop() = 0;
};

/// Measures continuously: how late a 25 ms timer is, and four times a second the duration of a
/// canary call, which goes to a server in this process through the caller and the threads that game
/// calls use. Canary calls are not logged. On a bus the broker's delay counts for peers on the bus
/// as the canary does.
class ProbingDelayMeter final : public DelayMeter {
 public:
  /// `caller` must not log its calls; `broker` is null if the program is on no bus. The others must
  /// outlive the meter, and `caller` and `timer` must be shut down before it is destroyed. Fails if
  /// no port is free on the loopback interface.
  [[nodiscard]] static core::Result<std::unique_ptr<ProbingDelayMeter>> start(
      transport::front::HttpRuntime& runtime, transport::link::Caller& caller, core::Timer& timer,
      const core::Clock& clock, std::unique_ptr<BrokerDelay> broker);
  ~ProbingDelayMeter() override;

  [[nodiscard]] core::OwnDelay worst_since(core::Clock::Steady from, Route route) override;
  /// Closes the canary's server and ends the measuring of the broker. Must be called before the
  /// runtime and the bus end.
  void stop();

 private:
  struct Probe;
  explicit ProbingDelayMeter(std::shared_ptr<Probe> probe);

  std::shared_ptr<Probe> probe_;
  std::unique_ptr<BrokerDelay> broker_;
};

}  // namespace league::agent::runtime
