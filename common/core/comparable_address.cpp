#include "common/core/comparable_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "common/core/text.h"

namespace league::core {
namespace {

constexpr const char* kLoopback = "localhost";

std::string comparable_v4(const in_addr& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address, text.data(), text.size());
  std::string host = text.data();
  return host == "127.0.0.1" ? kLoopback : host;
}

std::string comparable_v6(const in6_addr& address) {
  if (IN6_IS_ADDR_LOOPBACK(&address)) return kLoopback;
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    in_addr mapped{};
    std::memcpy(&mapped, &address.s6_addr[12], sizeof(mapped));
    return comparable_v4(mapped);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return text.data();
}

std::string comparable_host(const std::string& host) {
  in_addr v4{};
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return comparable_v4(v4);
  in6_addr v6{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return comparable_v6(v6);
  return host;
}

std::string default_port(const std::string& scheme) {
  if (scheme == "https" || scheme == "wss") return "443";
  return scheme == "tcp" ? "" : "80";
}

/// The place of the colon before the port; the size if there is no port.
std::size_t end_of_host(std::string_view authority) {
  std::size_t begin = authority.starts_with('[') ? authority.find(']') : 0;
  return begin == authority.npos ? authority.size()
                                 : std::min(authority.find(':', begin), authority.size());
}

}  // namespace

ComparableAddress ComparableAddress::parse(std::string_view url) {
  ComparableAddress out;
  std::size_t colon = url.find(':');
  if (colon == url.npos) {
    out.path = url;
    return out;
  }
  out.scheme = lower_case(url.substr(0, colon));
  url.remove_prefix(colon + 1);
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    std::string_view authority = url.substr(0, url.find_first_of("/?#"));
    url.remove_prefix(authority.size());
    std::size_t end = end_of_host(authority);
    std::string_view host = authority.substr(0, end);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    out.host = comparable_host(lower_case(host));
    if (end + 1 < authority.size()) {
      out.port = authority.substr(end + 1);
    } else {
      out.port = default_port(out.scheme);
    }
    if (url.ends_with('/')) url.remove_suffix(1);
  }
  out.path = url;
  return out;
}

bool ComparableAddress::is_local_neighbour_of(const ComparableAddress& other) const {
  return is_loopback() && other.is_loopback() && scheme == other.scheme && path == other.path;
}

std::string ComparableAddress::text() const {
  if (host.empty()) return scheme + ':' + path;
  return scheme + "://" + host + ':' + port + path;
}

}  // namespace league::core
