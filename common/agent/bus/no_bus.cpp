// For a build without the folder bus/, or with -DLEAGUE_BUS=OFF.
#include "common/agent/bus/host_bus.h"

namespace league::agent::bus {

core::Result<std::unique_ptr<HostBus>> HostBus::join(const BusOptions& /*options*/) {
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "this build has no message bus: leave --bus and --bus-credentials out, or "
                     "install libnats-dev, configure with -DLEAGUE_BUS=ON and build again",
                     {}};
}

}  // namespace league::agent::bus
