#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/subject.h"

namespace league::agent::bus {

/// One agent's session on a bus: serves its `.out` subject, sends keep-alives, and watches the
/// manager with a keep-alive monitor. A manager that falls silent may have restarted and forgotten
/// the session, so the agent then attaches again. Thread-safe.
class BusAgent {
 public:
  struct Context {
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
  };

  /// All references must outlive the object. `manager_url` is `nats:manager` or
  /// `nats:manager/LEAGUE`. Fails as Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<BusAgent>> start(
      transport::bus::Bus& bus, const transport::link::BusSession& session,
      const std::string& manager_url, transport::link::MessageHandler& handler,
      const Context& context);
  ~BusAgent();
  BusAgent(const BusAgent&) = delete;
  BusAgent& operator=(const BusAgent&) = delete;

  /// Accepts no more messages.
  void begin_stop();
  /// Calls begin_stop, then waits up to `grace` until everything is answered.
  void stop(std::chrono::milliseconds grace);

 private:
  class State;
  explicit BusAgent(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace league::agent::bus
