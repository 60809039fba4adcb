#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/ip_range.h"

namespace league::transport {

/// Which endpoints of strangers this program calls: without it a registration could aim our calls
/// at any machine of the network. Link-local, metadata, multicast, unspecified and broadcast
/// addresses are never called, whatever the policy. Unix sockets and commands are called only where
/// the policy names them: `local` and `any` speak of addresses. Immutable, so thread-safe.
class EndpointPolicy {
 public:
  using Resolver = std::function<core::Result<std::vector<std::string>>(const std::string& host)>;

  /// Loopback and private networks; the default.
  [[nodiscard]] static EndpointPolicy local();
  /// Every address that is not excluded for good.
  [[nodiscard]] static EndpointPolicy any();
  /// Entries separated by commas: `local`, `any`, hosts, addresses and blocks
  /// (`bots.example.org,10.1.0.0/16`); `unix:/run/bots/` for all sockets below a directory, or
  /// `unix:/run/bot.sock` for one; `stdio:python3 bot.py` for that command with any
  /// further words, `stdio:python3 bots/` for the files of a directory, `stdio` for every command;
  /// `nats` for sessions on the bus.
  /// A host that is named may have any address that is not excluded for good. Fails with
  /// kInvalidFieldValue.
  [[nodiscard]] static core::Result<EndpointPolicy> parse(std::string_view text);

  /// The endpoint with its address pinned: the host is resolved once, all its addresses must be
  /// allowed, the first is taken. `localhost` stays unpinned, because callers find out which
  /// loopback address answers. Blocks while a name is resolved, not for numeric hosts and
  /// localhost. Fails with kEndpointNotAllowed.
  [[nodiscard]] core::Result<Endpoint> admit(Endpoint endpoint) const;

  /// The same, and sessions on the bus that this program is on.
  [[nodiscard]] EndpointPolicy with_bus() const;

  /// For tests: resolves with `resolver` in place of the system.
  [[nodiscard]] EndpointPolicy with_resolver(Resolver resolver) const;

 private:
  EndpointPolicy();
  [[nodiscard]] core::Result<void> add(std::string_view item);
  [[nodiscard]] core::Result<Endpoint> admit_local_peer(Endpoint endpoint) const;
  [[nodiscard]] core::Result<Endpoint> admit_session(Endpoint endpoint) const;
  [[nodiscard]] bool is_allowed(const Endpoint& endpoint, const IpBytes& address) const;
  [[nodiscard]] core::Error refuse(const Endpoint& endpoint, const std::string& why) const;

  std::string name_;
  std::vector<std::string> hosts_;
  std::vector<IpRange> ranges_;
  std::vector<std::string> sockets_;  ///< paths; those that end with / are directories
  std::vector<std::vector<std::string>> commands_;  ///< words they begin with; none: all commands
  bool allows_any_ = false;
  bool allows_bus_ = false;
  Resolver resolver_;
};

}  // namespace league::transport
