#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "common/agent/host/host_bus.h"
#include "common/agent/identity/registration.h"
#include "common/audit/log/audit_log.h"
#include "common/envelope/message_type.h"
#include "common/transport/bus/bus_sessions.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/link/message_handler.h"

namespace league::agent::host {

/// The message-bus part of an AgentPort; the functions correspond to AgentPort's.
class PortBus {
 public:
  /// The objects that it uses; all must outlive it.
  struct Context {
    HostBus& host;
    transport::link::BusSession session;
    audit::log::AuditLog& log;
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
  };
  [[nodiscard]] static std::unique_ptr<PortBus> make(Context context);
  virtual ~PortBus() = default;

  [[nodiscard]] virtual core::Result<void> serve_session(transport::link::MessageHandler& handler,
                                                         const std::string& manager_url) = 0;
  [[nodiscard]] virtual core::Result<void> hear_events(transport::link::MessageHandler& handler,
                                                       const std::string& league_id,
                                                       std::set<envelope::MessageType> types) = 0;
  virtual void trust_events(const identity::Identity& identity) = 0;
  [[nodiscard]] virtual core::Result<void> serve_sessions(
      transport::link::MessageHandler& handler, transport::bus::BusSessionsOptions options) = 0;
  virtual void expect_session(const std::string& contact_endpoint) = 0;
  [[nodiscard]] virtual transport::bus::JetStream* streams() = 0;

  /// The following functions are called in this order, each once or more.
  virtual void begin_stop() = 0;
  /// `is_first` returns true once: for the first of the process's agents that stops.
  virtual void stop(const std::function<bool()>& is_first) = 0;
  /// Afterwards nothing uses the host's timer.
  virtual void close() = 0;
};

}  // namespace league::agent::host
