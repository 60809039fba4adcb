#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "bus/agent/bus_access.h"
#include "bus/agent/bus_agent.h"
#include "bus/agent/event_listener.h"
#include "bus/transport/bus.h"
#include "bus/transport/bus_sessions.h"
#include "bus/transport/jet_stream.h"
#include "common/agent/host/agent_host.h"
#include "common/audit/calls/audited_handler.h"

namespace league::agent::bus {

/// The only HostBus of a program.
class NatsHost final : public HostBus {
 public:
  /// Fails as connect_bus.
  [[nodiscard]] static core::Result<std::unique_ptr<NatsHost>> connect(const BusAccess& access);

  [[nodiscard]] transport::bus::Bus& bus() { return *bus_; }
  /// The bus for requests to streams and for publishing what streams store.
  [[nodiscard]] transport::bus::Bus& streams_bus() { return streams_bus_ ? *streams_bus_ : *bus_; }
  /// Null if no sessions are served first.
  [[nodiscard]] transport::bus::Bus* first_bus() { return first_bus_.get(); }
  [[nodiscard]] const std::set<transport::link::BusSession>& served_first() const {
    return served_first_;
  }

  [[nodiscard]] std::string lost_url() const override;
  [[nodiscard]] bool has_streams() const override { return has_streams_; }
  [[nodiscard]] const std::optional<transport::link::BusSession>& session() const override {
    return session_;
  }
  [[nodiscard]] core::Result<transport::link::BusSession> open_session(
      const std::filesystem::path& file, core::RandomSource& random) const override;
  [[nodiscard]] std::unique_ptr<transport::link::Caller> caller_for(
      const transport::link::BusSession& session, const Calling& calling,
      transport::link::Caller& others) override;
  [[nodiscard]] std::unique_ptr<PortBus> open_port(PortContext context) override;
  [[nodiscard]] std::unique_ptr<runtime::BrokerDelay> measure(core::Timer& timer,
                                                              const core::Clock& clock) override;

 private:
  NatsHost() = default;

  std::shared_ptr<transport::bus::Bus> bus_;
  std::unique_ptr<transport::bus::Bus::Subscription> watch_;  ///< of bus_
  std::shared_ptr<transport::bus::Bus> streams_bus_;  ///< null if `bus_` reaches streams as well
  std::shared_ptr<transport::bus::Bus> first_bus_;
  std::set<transport::link::BusSession> served_first_;
  bool has_streams_ = true;
  std::optional<transport::link::BusSession> session_;
};

/// Measures four times a second how long the broker takes to answer this program. While the broker
/// does not answer, no peer on the bus can be heard. All three outlive it.
[[nodiscard]] std::unique_ptr<runtime::BrokerDelay> measure_broker(transport::bus::Bus& bus,
                                                                   core::Timer& timer,
                                                                   const core::Clock& clock);

/// The program's connections; null if it is on no bus.
[[nodiscard]] inline NatsHost* nats_of(const host::AgentHost& host) {
  return static_cast<NatsHost*>(host.on_bus());
}

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
  [[nodiscard]] transport::bus::SessionOnBus on(transport::bus::Bus& bus) const {
    return {bus, context_.session, context_.clock, context_.timer, context_.random};
  }

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
