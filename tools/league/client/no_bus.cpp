// For a build without the folder bus/, or with -DLEAGUE_BUS=OFF.
#include "tools/league/client/bus_link.h"

namespace league::tools {

core::Result<std::unique_ptr<BusLink>> BusLink::join(const agent::bus::BusOptions& /*options*/,
                                                     const Context& /*context*/) {
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "this build has no message bus, so nats: addresses cannot be reached",
                     {}};
}

}  // namespace league::tools
