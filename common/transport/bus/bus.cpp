#include "common/transport/bus/bus.h"

#include <algorithm>
#include <cctype>

namespace league::transport {

std::string_view bus_header(const BusMessage& message, std::string_view name) {
  auto is_same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  for (const auto& [key, value] : message.headers) {
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(), is_same)) return value;
  }
  return {};
}

std::unique_ptr<Bus::Subscription> Bus::stall_publishers(const std::string& /*subject*/) {
  return nullptr;
}

}  // namespace league::transport
