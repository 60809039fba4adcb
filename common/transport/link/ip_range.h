#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace league::transport {

/// An address as 16 bytes; IPv4 in its mapped form (::ffff:a.b.c.d), so that both spellings of one
/// address are equal.
using IpBytes = std::array<std::uint8_t, 16>;

/// The bytes of a numeric address (an IPv6 zone such as %eth0 is none); nothing for a name.
[[nodiscard]] std::optional<IpBytes> parse_ip(const std::string& text);

/// A block of addresses such as `10.0.0.0/8` or `fc00::/7`. A value.
struct IpRange {
  IpBytes base{};
  unsigned prefix = 128;  ///< leading bits of the 128 that count

  [[nodiscard]] bool contains(const IpBytes& address) const;
  /// Reads `10.0.0.0/8`, or a single address; nothing if malformed.
  [[nodiscard]] static std::optional<IpRange> parse(std::string_view text);
};

}  // namespace league::transport
