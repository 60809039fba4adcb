#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "bus/agent/bus_agent.h"
#include "bus/agent/event_listener.h"
#include "bus/agent/event_verifier.h"
#include "bus/agent/nats_host.h"
#include "bus/transport/bus_sessions.h"
#include "bus/transport/jet_stream.h"
#include "common/agent/host/agent_host.h"
#include "common/audit/calls/audited_handler.h"

namespace league::agent::bus {

/// The only PortBus of a program.
class NatsPort final : public PortBus {
 public:
  /// `host` outlives it.
  NatsPort(NatsHost& host, HostBus::PortContext context)
      : host_(host), context_(std::move(context)) {}

  /// The manager's side of the bus: serves all sessions of the league.
  [[nodiscard]] core::Result<void> serve_sessions(transport::link::MessageHandler& handler,
                                                  transport::bus::BusSessionsOptions options);
  /// Only for the manager: listens to the session of an agent that registered before a restart.
  void expect_session(const std::string& contact_endpoint);
  /// The bus's streams, used with the port's session over the host's `streams_bus`. Created on the
  /// first call; null if the host has no streams or the bus is closed. `close` ends it together
  /// with its pending requests. Called on the thread that stops the port.
  [[nodiscard]] transport::bus::JetStream* streams();

  [[nodiscard]] core::Result<void> serve_session(transport::link::MessageHandler& handler,
                                                 const std::string& manager_url) override;
  [[nodiscard]] core::Result<void> hear_events(transport::link::MessageHandler& handler,
                                               const std::string& league_id,
                                               std::set<envelope::MessageType> types) override;
  void trust_events(const identity::Identity& identity) override;
  void begin_stop() override;
  void stop(const std::function<bool()>& is_first) override;
  void close() override;

 private:
  NatsHost& host_;
  const HostBus::PortContext context_;
  std::unique_ptr<BusAgent> agent_;
  std::unique_ptr<transport::bus::BusSessions> sessions_;
  std::unique_ptr<transport::bus::JetStream> streams_;

  std::mutex events_mutex_;  // guards the next four
  bool is_deaf_ = false;  ///< has stopped, listens to no more events
  std::unique_ptr<EventVerifier> event_verifier_;
  std::unique_ptr<audit::calls::AuditedHandler> audited_events_;
  std::shared_ptr<EventListener> event_listener_;
};

/// The port's part on the bus; null if the program is on none.
[[nodiscard]] inline NatsPort* nats_of(const host::AgentPort& port) {
  return static_cast<NatsPort*>(port.on_bus());
}

}  // namespace league::agent::bus
