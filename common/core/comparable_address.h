#pragma once

#include <string>
#include <string_view>

namespace league::core {

/// The address of an agent or a manager in a normalised form for comparisons. Scheme and host are
/// in lower case; `127.0.0.1`, `::1` and their other spellings are `localhost`; an IPv4-mapped
/// address is the IPv4 address; the port is always present (80 or 443 by default); a trailing slash
/// of the path is removed. Other host names and paths are unchanged: whether two names mean the
/// same machine is not checked. Source: protocol 8.23.
struct ComparableAddress {
  std::string scheme;
  std::string host;  ///< empty if there is none, as for `unix:`, `stdio:` and `nats:`
  std::string port;
  std::string path;  ///< everything after the port, or after the scheme if there is no host

  /// Parses a URL. A text that is not a URL becomes the path, so it equals only itself.
  [[nodiscard]] static ComparableAddress parse(std::string_view url);

  [[nodiscard]] bool is_loopback() const { return host == "localhost"; }
  /// Whether both are on this machine and differ at most in the port.
  [[nodiscard]] bool is_local_neighbour_of(const ComparableAddress& other) const;
  /// The normalised address as text, such as `http://localhost:8101/mcp`.
  [[nodiscard]] std::string text() const;

  bool operator==(const ComparableAddress&) const = default;
};

}  // namespace league::core
