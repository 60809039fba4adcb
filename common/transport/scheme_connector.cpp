#include "common/transport/scheme_connector.h"

#include <utility>

namespace league::transport {

void SchemeConnector::add(std::initializer_list<std::string_view> schemes,
                          std::shared_ptr<Connector> connector) {
  for (auto scheme : schemes) connectors_.insert_or_assign(std::string(scheme), connector);
}

void SchemeConnector::connect(const Endpoint& endpoint, core::Clock::Steady deadline,
                              Opened opened) {
  auto found = connectors_.find(endpoint.scheme);
  if (found != connectors_.end()) {
    return found->second->connect(endpoint, deadline, std::move(opened));
  }
  opened(core::Error{core::ErrorCode::kEndpointNotAllowed,
                     "endpoint " + endpoint.url() + ": this program has no way to call " +
                         endpoint.scheme + " endpoints",
                     {}});
}

}  // namespace league::transport
