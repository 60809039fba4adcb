// The BusLink of a build with -DLEAGUE_BUS=OFF, without a bus.
#include "tools/league/client/bus_link.h"

namespace league::tools {
namespace {

core::Error no_bus() {
  return {core::ErrorCode::kInvalidFieldValue,
          "this build has no message bus, so nats: addresses cannot be reached",
          {}};
}

}  // namespace

core::Result<std::unique_ptr<BusLink>> BusLink::join(const agent::bus::BusOptions& /*options*/,
                                                     const Context& /*context*/) {
  return no_bus();
}

core::Result<std::unique_ptr<transport::bus::Bus>> BusLink::connect_streams(
    const std::string& /*who*/) const {
  return no_bus();
}

core::Result<std::shared_ptr<void>> BusLink::serve(transport::link::MessageHandler& /*handler*/,
                                                   const core::Clock& /*clock*/) const {
  return no_bus();
}

core::Result<std::shared_ptr<void>> BusLink::serve_league(
    transport::link::MessageHandler& /*handler*/, const std::string& /*league_id*/,
    const Context& /*context*/) const {
  return no_bus();
}

}  // namespace league::tools
