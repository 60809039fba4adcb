#include "common/transport/endpoint.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "common/core/text.h"

namespace league::transport {

namespace {

constexpr std::size_t kMaxUrl = 256;

core::Error refuse(std::string_view url, std::string_view why) {
  std::string shown(url.substr(0, 80));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return {core::ErrorCode::kEndpointNotAllowed,
          "endpoint \"" + shown + "\": " + std::string(why) +
              "; expected something like http://localhost:8101/mcp",
          {}};
}

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

bool is_ipv6_character(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
}

/// Host and the text after it (`:8101` or empty); nothing if the host is malformed.
std::pair<std::string_view, std::string_view> split_host(std::string_view authority) {
  if (authority.starts_with('[')) {
    auto end = authority.find(']');
    if (end == std::string_view::npos) return {};
    auto host = authority.substr(1, end - 1);
    if (!std::all_of(host.begin(), host.end(), is_ipv6_character)) return {};
    return {host, authority.substr(end + 1)};
  }
  auto colon = authority.find(':');
  auto host = authority.substr(0, colon);
  if (!std::all_of(host.begin(), host.end(), is_name_character)) return {};
  return {host, colon == std::string_view::npos ? std::string_view{} : authority.substr(colon)};
}

/// The port behind the colon; 0 if it is none in 1…65535.
std::uint16_t read_port(std::string_view digits) {
  std::uint16_t port = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return fault == std::errc{} && end == digits.data() + digits.size() ? port : std::uint16_t{0};
}

}  // namespace

std::string Endpoint::authority() const {
  bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Endpoint::url() const { return scheme + "://" + authority() + path; }

core::Result<Endpoint> parse_endpoint(std::string_view url) {
  if (url.size() > kMaxUrl) return refuse(url, "longer than 256 characters");
  if (!std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c <= '~'; })) {
    return refuse(url, "only printable ASCII without spaces is allowed");
  }
  auto scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return refuse(url, "no scheme such as http://");
  Endpoint out;
  out.scheme = core::lower_case(url.substr(0, scheme_end));
  if (out.scheme != "http" && out.scheme != "https") {
    return refuse(url, "the scheme must be http or https");
  }
  auto rest = url.substr(scheme_end + 3);
  if (rest.find('#') != std::string_view::npos) return refuse(url, "a fragment (#) is not allowed");
  auto path_begin = std::min(rest.find_first_of("/?"), rest.size());
  auto authority = rest.substr(0, path_begin);
  if (authority.find('@') != std::string_view::npos) {
    return refuse("(hidden)", "user information (user@host) is not allowed");
  }
  auto [host, port_part] = split_host(authority);
  if (host.empty()) return refuse(url, "the host is missing or malformed");
  out.host = core::lower_case(host);
  out.port = out.scheme == "https" ? 443 : 80;
  if (!port_part.empty()) {
    out.port = port_part.starts_with(':') ? read_port(port_part.substr(1)) : std::uint16_t{0};
    if (out.port == 0) return refuse(url, "the port must be a number from 1 to 65535");
  }
  out.path = std::string(rest.substr(path_begin));
  if (!out.path.starts_with('/')) out.path.insert(0, 1, '/');
  return out;
}

}  // namespace league::transport
