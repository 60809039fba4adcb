#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "bus/agent/bus_access.h"
#include "bus/transport/bus.h"
#include "common/agent/host/agent_host.h"

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

  std::unique_ptr<transport::bus::Bus> bus_;
  std::unique_ptr<transport::bus::Bus::Subscription> watch_;  ///< of bus_
  std::unique_ptr<transport::bus::Bus> streams_bus_;  ///< null if `bus_` reaches streams as well
  std::unique_ptr<transport::bus::Bus> first_bus_;
  std::set<transport::link::BusSession> served_first_;
  bool has_streams_ = true;
  std::optional<transport::link::BusSession> session_;
};

/// The program's connections; null if it is on no bus.
[[nodiscard]] inline NatsHost* nats_of(const host::AgentHost& host) {
  return static_cast<NatsHost*>(host.on_bus());
}

}  // namespace league::agent::bus
