#include "common/transport/link/caller.h"

#include <filesystem>

#include "common/transport/link/command_line.h"
#include "common/transport/link/socket.h"
#include "common/transport/link/subject.h"

namespace league::transport::link {
namespace {

rpc::TransportType type_of(const Endpoint& endpoint) {
  using enum rpc::TransportType;
  if (is_http(endpoint)) return kHttp;
  if (endpoint.scheme.starts_with("ws")) return kWebSocket;
  if (endpoint.scheme == "tcp") return kTcp;
  if (endpoint.scheme == "unix") return kUnix;
  if (endpoint.scheme == "stdio") return kSubprocess;
  if (endpoint.scheme == "seat") return kSeat;
  return endpoint.scheme == "nats" ? kNats : kUnknown;
}

/// Host and port, the path of a socket, or the file name of a command's program; empty for a bus.
std::string called_address(const Endpoint& endpoint) {
  if (endpoint.scheme == "unix") return endpoint.path;
  if (endpoint.scheme == "stdio") {
    const auto words = split_command(endpoint.path);
    return words && !words->empty() ? std::filesystem::path(words->front()).filename().string()
                                    : std::string();
  }
  if (!has_host(endpoint)) return {};
  const std::string& pinned = endpoint.pinned_address;
  return pinned.empty() ? endpoint.authority() : host_and_port(pinned, endpoint.port);
}

}  // namespace

rpc::MessageContext context_of_call(const Endpoint& endpoint, const core::Clock& clock) {
  auto way = is_http(endpoint) ? rpc::TransportContext::http(nullptr, "POST", endpoint.path)
                               : rpc::TransportContext();
  way.type = type_of(endpoint);
  if (const auto session = BusSession::parse(endpoint.path);
      way.type == rpc::TransportType::kNats && session)
    way = rpc::TransportContext::nats({session_out(*session), {}, {}});
  if (std::string address = called_address(endpoint); !address.empty()) {
    way.connection = std::make_shared<const rpc::ConnectionInfo>(
        rpc::ConnectionInfo{std::move(address), "", "", std::nullopt});
  }
  return rpc::MessageContext::now(clock, rpc::MessageDirection::kClientToServer, std::move(way));
}

}  // namespace league::transport::link
