#include "common/transport/peer_connector.h"

#include <chrono>

#include "common/transport/resolver.h"
#include "common/transport/tls_channel.h"

namespace league::transport {

namespace {

std::string readable(const SocketAddress& address) {
  bool is_ipv6 = address.ip.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + address.ip + "]" : address.ip) + ":" + std::to_string(address.port);
}

/// Tries one address after the other; all but the last get half of the time that is left.
core::Result<FileDescriptor> connect_any(const std::vector<std::string>& addresses,
                                         std::uint16_t port, const Patience& patience) {
  core::Result<FileDescriptor> last =
      core::Error{core::ErrorCode::kConnectionError, "the host has no address", {}};
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    Patience share = patience;
    auto now = std::chrono::steady_clock::now();
    if (i + 1 < addresses.size()) share.deadline = now + (patience.deadline - now) / 2;
    last = connect_to(addresses[i], port, share);
    if (last || last.error().code == core::ErrorCode::kShuttingDown) break;
  }
  return last;
}

}  // namespace

core::Result<FileDescriptor> PeerConnector::connect_socket(const Endpoint& endpoint,
                                                           const Patience& patience) {
  if (!endpoint.pinned_address.empty()) {
    return connect_to(endpoint.pinned_address, endpoint.port, patience);
  }
  if (endpoint.host == "localhost") return connect_localhost(endpoint.port, patience);
  auto addresses = resolve(endpoint.host);
  if (!addresses) return addresses.error();
  return connect_any(*addresses, endpoint.port, patience);
}

core::Result<FileDescriptor> PeerConnector::connect_localhost(std::uint16_t port,
                                                              const Patience& patience) {
  std::vector<std::string> addresses{"127.0.0.1", "::1"};
  {
    std::lock_guard lock(mutex_);
    auto pinned = localhost_.find(port);
    if (pinned != localhost_.end() && pinned->second == addresses[1]) {
      std::swap(addresses[0], addresses[1]);
    }
  }
  auto socket = connect_any(addresses, port, patience);
  if (socket) {
    std::string answered = remote_address(socket->get()).ip;
    std::lock_guard lock(mutex_);
    localhost_[port] = std::move(answered);
  }
  return socket;
}

core::Result<std::unique_ptr<PeerConnection>> PeerConnector::connect(const Endpoint& endpoint,
                                                                     const Patience& patience) {
  auto socket = connect_socket(endpoint, patience);
  if (!socket) return socket.error();
  auto connection = std::make_unique<PeerConnection>();
  rpc::ConnectionInfo info{readable(remote_address(socket->get())),
                           readable(local_address(socket->get())),
                           "call-" + std::to_string(next_number_++), std::nullopt};
  if (endpoint.scheme == "https") {
    auto channel = make_tls_channel(*std::move(socket), endpoint.host, patience, info.tls);
    if (!channel) return channel.error();
    connection->channel = *std::move(channel);
  } else {
    connection->channel = make_plain_channel(*std::move(socket));
  }
  connection->http = std::make_unique<HttplibClient>(endpoint);
  connection->info = std::make_shared<const rpc::ConnectionInfo>(std::move(info));
  return connection;
}

}  // namespace league::transport
