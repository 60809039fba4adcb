// For a build with -DLEAGUE_BUS=OFF: reading the bus options already fails, so nothing else is
// used.
#include "common/agent/host/host_bus.h"
#include "common/agent/host/port_bus.h"

namespace league::agent::host {
namespace {

core::Error no_bus() {
  return {core::ErrorCode::kInvalidFieldValue,
          "this build has no message bus: leave --bus and --bus-credentials out, or install "
          "libnats-dev, configure with -DLEAGUE_BUS=ON and build again",
          {}};
}

}  // namespace

core::Result<std::unique_ptr<HostBus>> HostBus::join(const bus::BusAccess& /*access*/) {
  return no_bus();
}

core::Result<transport::link::BusSession> HostBus::open_session(
    const std::filesystem::path& /*file*/, core::RandomSource& /*random*/) const {
  return no_bus();
}

std::unique_ptr<transport::link::Caller> HostBus::caller_for(
    const transport::link::BusSession& /*session*/, const Calling& /*calling*/,
    transport::link::Caller& /*others*/) {
  return nullptr;
}

std::unique_ptr<PortBus> PortBus::make(Context /*context*/) { return nullptr; }

}  // namespace league::agent::host

namespace league::agent::bus {

core::Result<BusAccess> read_bus_access(const BusOptions& /*options*/,
                                        const std::string& /*name*/) {
  return host::no_bus();
}

}  // namespace league::agent::bus
