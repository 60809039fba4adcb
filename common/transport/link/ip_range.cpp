#include "common/transport/link/ip_range.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace league::transport {

namespace {

constexpr unsigned kMappedBits = 96;

}  // namespace

std::optional<IpBytes> parse_ip(const std::string& text) {
  IpBytes bytes{};
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (::inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool IpRange::contains(const IpBytes& address) const {
  for (unsigned bit = 0; bit < prefix; bit += 8) {
    unsigned counted = std::min(8U, prefix - bit);
    auto mask = static_cast<std::uint8_t>(0xffU << (8 - counted));
    if (((base[bit / 8] ^ address[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

std::optional<IpRange> IpRange::parse(std::string_view text) {
  std::size_t slash = text.find('/');
  auto base = parse_ip(std::string(text.substr(0, slash)));
  if (!base) return std::nullopt;
  IpRange range{*base, 128};
  if (slash == std::string_view::npos) return range;
  bool is_v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  std::string_view digits = text.substr(slash + 1);
  unsigned bits = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (fault != std::errc{} || end != digits.data() + digits.size() || bits > (is_v4 ? 32 : 128)) {
    return std::nullopt;
  }
  range.prefix = is_v4 ? bits + kMappedBits : bits;
  return range;
}

}  // namespace league::transport
