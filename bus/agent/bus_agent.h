#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bus/transport/bus.h"
#include "bus/transport/bus_discovery.h"
#include "bus/transport/bus_listener.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/task/signal.h"
#include "common/task/task.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/subject.h"

namespace league::agent::bus {

/// One agent's session on a bus: serves its `.out` subject, sends keep-alives, and watches the
/// manager with a keep-alive monitor. A manager that falls silent may have restarted and forgotten
/// the session, so the agent then attaches again. Thread-safe.
class BusAgent {
 public:
  /// `handler` outlives it. `manager_url` is `nats:manager` or `nats:manager/LEAGUE`. Fails as
  /// Bus::subscribe.
  [[nodiscard]] static core::Result<std::unique_ptr<BusAgent>> start(
      transport::bus::SessionOnBus on, const std::string& manager_url,
      transport::link::MessageHandler& handler);
  ~BusAgent() { stop(std::chrono::milliseconds(0)); }
  BusAgent(const BusAgent&) = delete;
  BusAgent& operator=(const BusAgent&) = delete;

  /// Accepts no more messages.
  void begin_stop();
  /// Calls begin_stop, then waits up to `grace` until everything is answered.
  void stop(std::chrono::milliseconds grace);

 private:
  BusAgent(transport::bus::SessionOnBus on, const std::string& manager_url);
  core::Result<void> begin(transport::link::MessageHandler& handler);
  /// Looks for a manager, and again whenever the one that was found is silent.
  task::Task<void> keep_attached();
  void on_found(std::chrono::milliseconds keep_alive);
  void on_alive();
  task::Task<void> hear_keep_alive();
  task::Task<void> send_keep_alives(std::chrono::milliseconds interval);
  task::Task<void> watch_manager(std::chrono::milliseconds interval);

  const transport::bus::SessionOnBus on_;
  const std::string league_;
  std::shared_ptr<transport::bus::BusListener> listener_;  ///< null if it could not begin
  // Used on the executor only.
  std::chrono::milliseconds interval_{0};  ///< 0: no keep-alives are sent
  transport::bus::KeepAliveMonitor monitor_;
  task::Signal<bool> silence_;
  task::Spawned sending_;
  task::Spawned watching_;
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::agent::bus
