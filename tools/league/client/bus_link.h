#pragma once

#include <memory>
#include <string>

#include "common/agent/bus/bus_options.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"
#include "common/transport/link/message_handler.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools {

/// A tool's place on a message bus: a connection and a session, that of the credentials or one that
/// ends with the tool. Thread-safe.
class BusLink {
 public:
  struct Context {
    transport::link::EventLoop& loop;
    core::Timer& timer;
    const core::Clock& clock;
    core::RandomSource& random;
  };
  /// All references in `context` must outlive it. Fails if the credentials are wrong, or no bus was
  /// named.
  [[nodiscard]] static core::Result<std::unique_ptr<BusLink>> join(
      const agent::bus::BusOptions& options, const Context& context);

  [[nodiscard]] transport::bus::Bus& bus() { return *bus_; }
  /// Opens a separate connection for requests to streams; null if `bus` can be used for them. Fails
  /// with no_streams_error for `who`, and like agent::bus::connect_streams.
  [[nodiscard]] core::Result<std::unique_ptr<transport::bus::Bus>> connect_streams(
      const std::string& who) const;
  [[nodiscard]] const transport::link::BusSession& session() const { return session_; }
  /// Serves the session until the returned pointer is destroyed. `handler` and this object must
  /// outlive it.
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve(transport::link::MessageHandler& handler,
                                                          const core::Clock& clock) const;
  /// Serves all sessions that look for the league `league_id`, as a league manager does; ends like
  /// `serve`. `context` must outlive the returned pointer, too.
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve_league(
      transport::link::MessageHandler& handler, const std::string& league_id,
      const Context& context) const;
  /// Connects to `nats:` endpoints. Its connections must not outlive this object.
  [[nodiscard]] const std::shared_ptr<transport::link::Connector>& connector() const {
    return connector_;
  }

 private:
  BusLink(agent::bus::BusAccess access, std::unique_ptr<transport::bus::Bus> bus,
          transport::link::BusSession session, const Context& context);

  const agent::bus::BusAccess access_;
  const std::unique_ptr<transport::bus::Bus> bus_;
  const transport::link::BusSession session_;
  const std::shared_ptr<transport::link::Connector> connector_;
};

/// Adds --bus, --bus-credentials and --bus-ca to a command.
void add_bus_options(CLI::App& command, agent::bus::BusOptions& options);

}  // namespace league::tools
