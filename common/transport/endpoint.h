#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::transport {

/// Where a peer can be called, taken apart and checked. Other schemes than http and https come with
/// their transports.
struct Endpoint {
  std::string scheme;  ///< `http` or `https`, lower case
  std::string host;  ///< name or address, lower case; an IPv6 address without brackets
  std::uint16_t port = 0;
  std::string path = "/";
  /// The address that the host was resolved to when the endpoint was accepted; connections go there
  /// whatever the name says later (no DNS rebinding). Empty: resolve at the time of the call (only
  /// for endpoints that the operator gave).
  std::string pinned_address;

  /// `http://localhost:8101/mcp`.
  [[nodiscard]] std::string url() const;
  /// `localhost:8101`, with brackets around an IPv6 address: what the Host header says.
  [[nodiscard]] std::string authority() const;

  bool operator==(const Endpoint&) const = default;
  auto operator<=>(const Endpoint&) const = default;
};

/// Takes a URL apart: http(s) only, no user information, no fragment, a port in 1…65535 (default 80
/// and 443), printable ASCII, at most 256 characters. Fails with kEndpointNotAllowed and a text
/// that names the part that is wrong.
[[nodiscard]] core::Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace league::transport
