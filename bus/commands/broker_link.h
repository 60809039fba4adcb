#pragma once

#include <memory>
#include <string>

#include "bus/agent/bus_access.h"
#include "bus/transport/bus.h"
#include "tools/league/client/bus_link.h"

namespace league::tools {

/// The only BusLink of a program.
class BrokerLink final : public BusLink {
 public:
  [[nodiscard]] static core::Result<std::unique_ptr<BrokerLink>> join(
      const agent::bus::BusOptions& options, const Context& context);

  [[nodiscard]] transport::bus::Bus& bus() { return *bus_; }
  /// Opens a separate connection for requests to streams; null if `bus` can be used for them. Fails
  /// with no_streams_error for `who`, and like agent::bus::connect_streams.
  [[nodiscard]] core::Result<std::shared_ptr<transport::bus::Bus>> connect_streams(
      const std::string& who) const;

  [[nodiscard]] const transport::link::BusSession& session() const override { return session_; }
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve(transport::link::MessageHandler& handler,
                                                          const core::Clock& clock) const override;
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve_league(
      transport::link::MessageHandler& handler, const std::string& league_id,
      const Context& context) const override;
  [[nodiscard]] const std::shared_ptr<transport::link::Connector>& connector() const override {
    return connector_;
  }

 private:
  BrokerLink(agent::bus::BusAccess access, std::shared_ptr<transport::bus::Bus> bus,
             transport::link::BusSession session, const Context& context);

  const agent::bus::BusAccess access_;
  const std::shared_ptr<transport::bus::Bus> bus_;
  const transport::link::BusSession session_;
  const std::shared_ptr<transport::link::Connector> connector_;
};

}  // namespace league::tools
