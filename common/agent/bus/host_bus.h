#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/agent/bus/bus_options.h"
#include "common/agent/identity/registration.h"
#include "common/agent/runtime/delay_meter.h"
#include "common/agent/runtime/settings.h"
#include "common/audit/log/audit_log.h"
#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/envelope/message_type.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/subject.h"

// All that the programs know of a message bus. Who implements it is in the folder bus/ at the top;
// without that folder no program can join a bus (no_bus.cpp).
namespace league::agent::bus {

/// The message-bus part of an AgentPort; the functions correspond to AgentPort's.
class PortBus {
 public:
  virtual ~PortBus() = default;
  [[nodiscard]] virtual core::Result<void> serve_session(transport::link::MessageHandler& handler,
                                                         const std::string& manager_url) = 0;
  [[nodiscard]] virtual core::Result<void> hear_events(transport::link::MessageHandler& handler,
                                                       const std::string& league_id,
                                                       std::set<envelope::MessageType> types) = 0;
  virtual void trust_events(const identity::Identity& identity) = 0;

  /// The following functions are called in this order, each once or more.
  virtual void begin_stop() = 0;
  /// `is_first` returns true once: for the first of the process's agents that stops.
  virtual void stop(const std::function<bool()>& is_first) = 0;
  /// Afterwards nothing uses the host's timer.
  virtual void close() = 0;
};

/// A process's connections to the message bus. Thread-safe once it is made.
class HostBus {
 public:
  /// Reads the credentials and connects; if no broker is available yet, keeps looking for one.
  /// Fails as read_bus_access and connect_bus, and if the program was built without a bus.
  [[nodiscard]] static core::Result<std::unique_ptr<HostBus>> join(const BusOptions& options);
  virtual ~HostBus() = default;

  /// Of the broker, without credentials, while it cannot be reached; otherwise empty.
  [[nodiscard]] virtual std::string lost_url() const = 0;
  /// Whether streams can be requested; only a request shows whether the broker stores any. False if
  /// the credentials say that it stores none.
  [[nodiscard]] virtual bool has_streams() const = 0;
  /// The session in the credentials, if they have one.
  [[nodiscard]] virtual const std::optional<transport::link::BusSession>& session() const = 0;
  /// That session, else the session in `file`; see open_bus_session.
  [[nodiscard]] virtual core::Result<transport::link::BusSession> open_session(
      const std::filesystem::path& file, core::RandomSource& random) const = 0;
  /// What a caller needs; all references must outlive it.
  struct Calling {
    transport::link::EventLoop& loop;
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
    const runtime::Settings& settings;
  };
  /// A caller for one session: uses the bus for endpoints on it and `others` for all other
  /// endpoints. Both this object and `session` must outlive the caller.
  [[nodiscard]] virtual std::unique_ptr<transport::link::Caller> caller_for(
      const transport::link::BusSession& session, const Calling& calling,
      transport::link::Caller& others) = 0;
  /// What an agent's part needs; all references must outlive it, and so must this object.
  struct PortContext {
    transport::link::BusSession session;
    audit::log::AuditLog& log;
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
  };
  [[nodiscard]] virtual std::unique_ptr<PortBus> open_port(PortContext context) = 0;
  /// Measures the broker's answers from now on; this object, `timer` and `clock` outlive it.
  [[nodiscard]] virtual std::unique_ptr<runtime::BrokerDelay> measure(core::Timer& timer,
                                                                      const core::Clock& clock) = 0;
};

}  // namespace league::agent::bus
