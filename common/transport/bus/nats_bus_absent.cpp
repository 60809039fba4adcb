#include "common/transport/bus/nats_bus.h"

namespace league::transport {

class NatsBus::Link {};
class NatsBus::Stalls {};

bool NatsBus::is_built() { return false; }

core::Result<std::unique_ptr<NatsBus>> NatsBus::connect(const NatsBusOptions&) {
  return core::Error{core::ErrorCode::kInternalError,
                     "this build cannot speak NATS: install libnats-dev, configure with "
                     "-DLEAGUE_BUS=ON and build again",
                     {}};
}

NatsBus::~NatsBus() = default;

core::Result<void> NatsBus::publish(const BusMessage&) {
  return core::Error{core::ErrorCode::kConnectionError, "there is no broker", {}};
}

core::Result<std::unique_ptr<Bus::Subscription>> NatsBus::subscribe(const std::string&,
                                                                    const std::string&, Handler) {
  return core::Error{core::ErrorCode::kConnectionError, "there is no broker", {}};
}

std::unique_ptr<Bus::Subscription> NatsBus::stall_publishers(const std::string&) { return nullptr; }

std::unique_ptr<Bus::Subscription> NatsBus::watch(StateHandler) {
  return std::make_unique<Subscription>();
}

bool NatsBus::is_connected() const { return false; }
bool NatsBus::flush(std::chrono::milliseconds) { return false; }
std::size_t NatsBus::max_payload() const { return 0; }
std::string NatsBus::url() const { return {}; }

}  // namespace league::transport
