#include "bus/transport/bus.h"

#include "common/core/text.h"

namespace league::transport::bus {

std::string_view bus_header(const BusMessage& message, std::string_view name) {
  for (const auto& [key, value] : message.headers) {
    if (core::equals_ignoring_case(key, name)) return value;
  }
  return {};
}

std::unique_ptr<Bus::Subscription> Bus::stall_publishers(const std::string& /*subject*/) {
  return nullptr;
}

}  // namespace league::transport::bus
