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
    transport::EventLoop& loop;
    core::Timer& timer;
    const core::Clock& clock;
    core::RandomSource& random;
  };
  /// All references in `context` must outlive it. Fails if the credentials are wrong, or no bus was
  /// named.
  [[nodiscard]] static core::Result<std::unique_ptr<BusLink>> join(const agent::BusOptions& options,
                                                                   const Context& context);

  [[nodiscard]] transport::Bus& bus() { return *bus_; }
  /// Opens a separate connection for requests to streams; null if `bus` can be used for them. Fails
  /// with no_streams_error for `who`, and like agent::connect_streams.
  [[nodiscard]] core::Result<std::unique_ptr<transport::Bus>> connect_streams(
      const std::string& who) const;
  [[nodiscard]] const transport::BusSession& session() const { return session_; }
  /// Serves the session until the returned pointer is destroyed. `handler` and this object must
  /// outlive it.
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve(transport::MessageHandler& handler,
                                                          const core::Clock& clock) const;
  /// Serves all sessions that look for the league `league_id`, as a league manager does; ends like
  /// `serve`. `context` must outlive the returned pointer, too.
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve_league(transport::MessageHandler& handler,
                                                                 const std::string& league_id,
                                                                 const Context& context) const;
  /// Connects to `nats:` endpoints. Its connections must not outlive this object.
  [[nodiscard]] const std::shared_ptr<transport::Connector>& connector() const {
    return connector_;
  }

 private:
  BusLink(agent::BusAccess access, std::unique_ptr<transport::Bus> bus,
          transport::BusSession session, const Context& context);

  const agent::BusAccess access_;
  const std::unique_ptr<transport::Bus> bus_;
  const transport::BusSession session_;
  const std::shared_ptr<transport::Connector> connector_;
};

/// Adds --bus, --bus-credentials and --bus-ca to a command.
void add_bus_options(CLI::App& command, agent::BusOptions& options);

}  // namespace league::tools
