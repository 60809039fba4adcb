#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/endpoint.h"

namespace league::transport::link {

/// An address as 16 bytes; IPv4 in its mapped form (::ffff:a.b.c.d), so that both spellings of one
/// address are equal.
using IpBytes = std::array<std::uint8_t, 16>;

/// The bytes of a numeric address; nothing for a name, or for an address with a zone (%eth0).
[[nodiscard]] std::optional<IpBytes> parse_ip(const std::string& text);

/// A block of addresses such as `10.0.0.0/8` or `fc00::/7`. A value.
struct IpRange {
  IpBytes base{};
  unsigned prefix = 128;  ///< leading bits of the 128 that count

  [[nodiscard]] bool contains(const IpBytes& address) const;
  /// Reads `10.0.0.0/8`, or a single address; nothing if malformed.
  [[nodiscard]] static std::optional<IpRange> parse(std::string_view text);
};

/// Which endpoints of strangers this program calls: without it a registration could aim our calls
/// at any machine of the network. Link-local, metadata, multicast, unspecified and broadcast
/// addresses are never called, whatever the policy. Unix sockets and commands are called only if
/// the policy names them, because `local` and `any` cover only addresses. Immutable, so
/// thread-safe.
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

  /// A copy of this policy that also allows sessions on the bus that this program is on.
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

}  // namespace league::transport::link
