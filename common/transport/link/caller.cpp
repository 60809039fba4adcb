#include "common/transport/link/caller.h"

#include "common/transport/link/socket.h"

namespace league::transport::link {
namespace {

rpc::TransportType type_of(const Endpoint& endpoint) {
  using enum rpc::TransportType;
  if (is_http(endpoint)) return kHttp;
  if (endpoint.scheme.starts_with("sse+")) return kSse;
  if (endpoint.scheme.starts_with("ws")) return kWebSocket;
  if (endpoint.scheme == "tcp") return kTcp;
  if (endpoint.scheme == "unix") return kUnix;
  if (endpoint.scheme == "stdio") return kSubprocess;
  return endpoint.scheme == "nats" ? kNats : kUnknown;
}

std::string called_address(const Endpoint& endpoint) {
  const std::string& pinned = endpoint.pinned_address;
  return pinned.empty() ? endpoint.authority() : host_and_port(pinned, endpoint.port);
}

}  // namespace

rpc::MessageContext context_of_call(const Endpoint& endpoint, const core::Clock& clock) {
  auto way = is_http(endpoint) ? rpc::TransportContext::http(nullptr, "POST", endpoint.path)
                               : rpc::TransportContext();
  way.type = type_of(endpoint);
  if (has_host(endpoint)) {
    way.connection = std::make_shared<const rpc::ConnectionInfo>(
        rpc::ConnectionInfo{called_address(endpoint), "", "", std::nullopt});
  }
  return rpc::MessageContext::now(clock, rpc::MessageDirection::kClientToServer, std::move(way));
}

}  // namespace league::transport::link
