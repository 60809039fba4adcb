#pragma once

#include <string>
#include <string_view>

namespace league::core {

/// The address of an agent or a manager in the form in which two of them are compared. Scheme and
/// host are in lower case; `127.0.0.1`, `::1` and their other spellings are `localhost`; an
/// IPv4-mapped address is the IPv4 address; the port is always there (80 or 443 by default); a
/// trailing slash of the path is gone. Other host names and paths stay as they are: whether two
/// names are one machine is not looked up. Source: protocol §8, "One address, one agent".
struct ComparableAddress {
  std::string scheme;
  std::string host;  ///< empty where there is none, as for `unix:`, `stdio:` and `nats:`
  std::string port;
  std::string path;  ///< all that follows the port, or the scheme where there is no host

  /// Reads a URL. A text that is none is all path, so it is equal to itself only.
  [[nodiscard]] static ComparableAddress parse(std::string_view url);

  [[nodiscard]] bool is_loopback() const { return host == "localhost"; }
  /// Whether both are on this machine and differ in nothing but the port.
  [[nodiscard]] bool is_local_neighbour_of(const ComparableAddress& other) const;
  /// One text for each address, such as `http://localhost:8101/mcp`.
  [[nodiscard]] std::string text() const;

  bool operator==(const ComparableAddress&) const = default;
};

}  // namespace league::core
