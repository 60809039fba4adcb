#pragma once

#include <memory>
#include <string>

#include "common/agent/bus/bus_options.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/subject.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace league::tools {

/// A tool's place on a message bus: a connection and a session, that of the credentials or one that
/// ends with the tool. Thread-safe. The folder bus/ at the top implements it.
class BusLink {
 public:
  struct Context {
    transport::link::EventLoop& loop;
    core::Timer& timer;
    const core::Clock& clock;
    core::RandomSource& random;
  };
  /// All references in `context` must outlive it. Fails if the credentials are wrong, no bus was
  /// named, or the program was built without a bus.
  [[nodiscard]] static core::Result<std::unique_ptr<BusLink>> join(
      const agent::bus::BusOptions& options, const Context& context);
  virtual ~BusLink() = default;

  [[nodiscard]] virtual const transport::link::BusSession& session() const = 0;
  /// Serves the session until the returned pointer is destroyed. `handler` and this object must
  /// outlive it.
  [[nodiscard]] virtual core::Result<std::shared_ptr<void>> serve(
      transport::link::MessageHandler& handler, const core::Clock& clock) const = 0;
  /// Serves all sessions that look for the league `league_id`, as a league manager does; ends like
  /// `serve`. `context` must outlive the returned pointer, too.
  [[nodiscard]] virtual core::Result<std::shared_ptr<void>> serve_league(
      transport::link::MessageHandler& handler, const std::string& league_id,
      const Context& context) const = 0;
  /// Connects to `nats:` endpoints. Its connections must not outlive this object.
  [[nodiscard]] virtual const std::shared_ptr<transport::link::Connector>& connector() const = 0;
};

/// Adds --bus, --bus-credentials and --bus-ca to a command.
void add_bus_options(CLI::App& command, agent::bus::BusOptions& options);

}  // namespace league::tools
