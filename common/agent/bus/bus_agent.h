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

namespace league::agent {

/// One agent's session on a bus: serves its `.out`, says that it lives, and watches the manager by
/// a keep-alive monitor: a manager that is silent may have restarted and forgotten the session, so
/// the agent attaches again. Thread-safe.
class BusAgent {
 public:
  struct Context {
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
  };

  /// All outlive it. `manager_url` is `nats:manager` or `nats:manager/LEAGUE`. Fails as
  /// Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<BusAgent>> start(
      transport::Bus& bus, const transport::BusSession& session, const std::string& manager_url,
      transport::MessageHandler& handler, const Context& context);
  ~BusAgent();
  BusAgent(const BusAgent&) = delete;
  BusAgent& operator=(const BusAgent&) = delete;

  /// Takes nothing more.
  void begin_stop();
  /// begin_stop, waits until everything was answered, at most for `grace`.
  void stop(std::chrono::milliseconds grace);

 private:
  class State;
  explicit BusAgent(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace league::agent
