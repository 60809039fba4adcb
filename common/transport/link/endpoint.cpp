#include "common/transport/link/endpoint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "common/core/text.h"
#include "common/transport/link/socket.h"
#include "common/transport/link/subject.h"

namespace league::transport::link {

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

/// Schemes with an authority, and the port where none is given; 0: one must be.
constexpr std::array<std::pair<std::string_view, std::uint16_t>, 5> kNetworkSchemes{
    {{"http", std::uint16_t{80}},
     {"https", std::uint16_t{443}},
     {"ws", std::uint16_t{80}},
     {"wss", std::uint16_t{443}},
     {"tcp", std::uint16_t{0}}}};

core::Result<Endpoint> parse_network(std::string_view url, std::string scheme,
                                     std::string_view rest) {
  const auto* known = std::find_if(kNetworkSchemes.begin(), kNetworkSchemes.end(),
                                   [&](const auto& entry) { return entry.first == scheme; });
  if (known == kNetworkSchemes.end()) {
    return refuse(url, "the scheme must be http, https, ws, wss or tcp");
  }
  if (rest.find('#') != std::string_view::npos) return refuse(url, "a fragment (#) is not allowed");
  auto path_begin = std::min(rest.find_first_of("/?"), rest.size());
  auto authority = rest.substr(0, path_begin);
  if (authority.find('@') != std::string_view::npos) {
    return refuse("(hidden)", "user information (user@host) is not allowed");
  }
  auto [host, port_part] = split_host(authority);
  if (host.empty()) return refuse(url, "the host is missing or malformed");
  std::uint16_t port = known->second;
  if (!port_part.empty() || port == 0) {
    port = port_part.starts_with(':') ? read_port(port_part.substr(1)) : std::uint16_t{0};
    if (port == 0) return refuse(url, "the port must be a number from 1 to 65535");
  }
  std::string path(rest.substr(path_begin));
  if (scheme == "tcp") {
    if (!path.empty() && path != "/") return refuse(url, "tcp://HOST:PORT has no path");
    path.clear();
  } else if (!path.starts_with('/')) {
    path.insert(0, 1, '/');
  }
  return Endpoint{std::move(scheme), core::lower_case(host), port, std::move(path), {}};
}

bool is_clean_path(std::string_view path) {
  return path.size() > 1 && path.starts_with('/') && !path.starts_with("//") &&
         !path.ends_with('/') && (std::string(path) + "/").find("/../") == std::string::npos;
}

bool is_printable(std::string_view text, char first) {
  return std::all_of(text.begin(), text.end(), [first](char c) { return c >= first && c <= '~'; });
}

bool is_bus_name(std::string_view name) {
  constexpr std::string_view kOfLeague = "manager/";
  if (name == "manager") return true;
  if (!name.starts_with(kOfLeague)) return BusSession::parse(name).has_value();
  auto league = name.substr(kOfLeague.size());
  return !league.empty() && std::all_of(league.begin(), league.end(), is_name_character);
}

}  // namespace

bool is_http(const Endpoint& endpoint) {
  return endpoint.scheme == "http" || endpoint.scheme == "https";
}

bool has_host(const Endpoint& endpoint) {
  constexpr std::array<std::string_view, 4> kWithoutHost = {"unix", "stdio", "nats", "seat"};
  return std::ranges::find(kWithoutHost, endpoint.scheme) == kWithoutHost.end();
}

bool is_tls(const Endpoint& endpoint) {
  return endpoint.scheme == "https" || endpoint.scheme == "wss" || endpoint.scheme == "sse+https";
}

std::string Endpoint::authority() const {
  return host.empty() ? std::string() : host_and_port(host, port);
}

std::string Endpoint::url() const {
  return has_host(*this) ? scheme + "://" + authority() + path : scheme + ":" + path;
}

core::Result<Endpoint> parse_endpoint(std::string_view url) {
  if (url.size() > kMaxUrl) return refuse(url, "longer than 256 characters");
  auto colon = url.find(':');
  std::string scheme = core::lower_case(url.substr(0, colon));
  if (colon != std::string_view::npos && scheme == "stdio") {
    auto command = url.substr(colon + 1);
    auto begin = std::min(command.find_first_not_of(' '), command.size());
    command.remove_prefix(begin);
    if (command.empty()) return refuse(url, "the command is missing");
    if (!is_printable(command, ' ')) return refuse(url, "only printable ASCII is allowed");
    return Endpoint{std::move(scheme), {}, 0, std::string(command), {}};
  }
  if (!is_printable(url, '!')) {
    return refuse(url, "only printable ASCII without spaces is allowed");
  }
  if (colon != std::string_view::npos && scheme == "unix") {
    auto path = url.substr(colon + 1);
    if (!is_clean_path(path))
      return refuse(url, "the path must be absolute, without .., as in unix:/run/bot.sock");
    return Endpoint{std::move(scheme), {}, 0, std::string(path), {}};
  }
  if (colon != std::string_view::npos && scheme == "nats") {
    auto name = url.substr(colon + 1);
    if (!is_bus_name(name))
      return refuse(url,
                    "a bus has sessions (nats:SESSION, 8 to 64 letters, digits, - and _), "
                    "nats:manager and nats:manager/LEAGUE");
    return Endpoint{std::move(scheme), {}, 0, std::string(name), {}};
  }
  if (colon != std::string_view::npos && scheme == "seat")
    return Endpoint{std::move(scheme), {}, 0, std::string(url.substr(colon + 1)), {}};
  if (colon == std::string_view::npos || url.substr(colon, 3) != "://") {
    return refuse(url, "no scheme such as http://");
  }
  auto endpoint = parse_network(url, std::move(scheme), url.substr(colon + 3));
  if (endpoint && endpoint->url().size() > kMaxUrl)
    return refuse(url, "longer than 256 characters with its port and path");
  return endpoint;
}

}  // namespace league::transport::link
