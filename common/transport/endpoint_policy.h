#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/transport/endpoint.h"
#include "common/transport/ip_range.h"

namespace league::transport {

/// Which endpoints of strangers this program calls: without it a registration could aim our calls
/// at any machine of the network. Link-local, metadata, multicast, unspecified and broadcast
/// addresses are never called, whatever the policy. Immutable, so thread-safe.
class EndpointPolicy {
 public:
  using Resolver = std::function<core::Result<std::vector<std::string>>(const std::string& host)>;

  /// Loopback and private networks; the default.
  [[nodiscard]] static EndpointPolicy local();
  /// Every address that is not excluded for good.
  [[nodiscard]] static EndpointPolicy any();
  /// `local`, `any`, or hosts, addresses and blocks separated by commas:
  /// `bots.example.org,10.1.0.0/16`. A host that is named may have any address that is not excluded
  /// for good. Fails with kInvalidFieldValue.
  [[nodiscard]] static core::Result<EndpointPolicy> parse(std::string_view text);

  /// The endpoint with its address pinned: the host is resolved once, all its addresses must be
  /// allowed, the first is taken. `localhost` stays unpinned, because callers find out which
  /// loopback address answers. Blocks while a name is resolved, not for numeric hosts and
  /// localhost. Fails with kEndpointNotAllowed.
  [[nodiscard]] core::Result<Endpoint> admit(Endpoint endpoint) const;

  /// For tests: resolves with `resolver` in place of the system.
  [[nodiscard]] EndpointPolicy with_resolver(Resolver resolver) const;

 private:
  EndpointPolicy();
  [[nodiscard]] bool is_allowed(const Endpoint& endpoint, const IpBytes& address) const;
  [[nodiscard]] core::Error refuse(const Endpoint& endpoint, const std::string& why) const;

  std::string name_;
  std::vector<std::string> hosts_;
  std::vector<IpRange> ranges_;
  bool allows_any_ = false;
  Resolver resolver_;
};

}  // namespace league::transport
