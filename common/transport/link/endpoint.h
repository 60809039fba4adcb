#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::transport::link {

/// Where a peer can be called, taken apart and checked.
struct Endpoint {
  /// Lower case: `http`, `https`; `ws`, `wss` (WebSocket); `tcp`, `unix`, `stdio` (JSON lines);
  /// `nats` (a message bus); `seat` (a
  /// player that comes to us, inside the program that it comes to). In tools that call other MCP
  /// servers also `sse+http`, `sse+https` (client::LegacySseConnector).
  std::string scheme;
  /// Name or address, lower case; an IPv6 address without brackets. Empty for unix, stdio, nats and
  /// seat.
  std::string host = {};
  std::uint16_t port = 0;  ///< 0 for unix, stdio and nats
  /// What follows the port, at least `/`; empty for tcp. For unix the absolute path of the socket,
  /// for stdio the command, for nats the session: its name, `manager` or `manager/LEAGUE`; for seat
  /// the player's id.
  std::string path = "/";
  /// The address that the host was resolved to when the endpoint was accepted; connections go there
  /// whatever the name says later (no DNS rebinding). Empty: resolve at the time of the call (only
  /// for endpoints that the operator gave).
  std::string pinned_address = {};

  /// The canonical text: `http://localhost:8101/mcp`, `tcp://10.0.0.1:9000`, `unix:/run/bot.sock`,
  /// `stdio:python3 bot.py`, `nats:manager`. parse_endpoint turns it into the same endpoint again.
  [[nodiscard]] std::string url() const;
  /// `localhost:8101`, with brackets around an IPv6 address: what the Host header says. Empty for
  /// unix, stdio and nats.
  [[nodiscard]] std::string authority() const;

  bool operator==(const Endpoint&) const = default;
  auto operator<=>(const Endpoint&) const = default;
};

/// Plain HTTP: one POST a request.
[[nodiscard]] bool is_http(const Endpoint& endpoint);
/// Has a host and a port: everything but unix, stdio, nats and seat.
[[nodiscard]] bool has_host(const Endpoint& endpoint);
/// Under TLS, so the certificate is checked against the host's name: https, wss, sse+https.
[[nodiscard]] bool is_tls(const Endpoint& endpoint);

/// Takes a URL apart: one of the schemes above without `sse+`, no user information, no fragment, a
/// port in 1…65535 (default 80 and 443; required for tcp), printable ASCII, for stdio with blanks,
/// at most 256 characters. Fails with kEndpointNotAllowed and a text that names the part that is
/// wrong.
[[nodiscard]] core::Result<Endpoint> parse_endpoint(std::string_view url);

}  // namespace league::transport::link
