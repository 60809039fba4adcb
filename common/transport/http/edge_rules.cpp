#include "common/transport/http/edge_rules.h"

#include <algorithm>
#include <array>

#include "common/core/text.h"

namespace league::transport::http {

namespace {

/// `localhost` of `localhost:8000`, `[::1]` of `[::1]:8000`; empty if the rest is not a port.
std::string_view without_port(std::string_view host) {
  std::size_t from = host.starts_with('[') ? std::min(host.find(']'), host.size()) : 0;
  std::size_t colon = host.find(':', from);
  if (colon == std::string_view::npos) return host;
  std::string_view port = host.substr(colon + 1);
  bool is_port = port.size() <= 5 &&
                 std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_port ? host.substr(0, colon) : std::string_view{};
}

std::string_view media_type(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return value;
}

/// The registered type, and what libraries for JSON-RPC send as well.
constexpr auto kMessageTypes = std::to_array<std::string_view>(
    {"application/json", "application/json-rpc", "application/jsonrequest", "text/json"});

}  // namespace

bool is_message_type(std::string_view content_type) {
  return std::ranges::any_of(kMessageTypes, [type = media_type(content_type)](auto accepted) {
    return core::equals_ignoring_case(accepted, type);
  });
}

HttpRefusal wrong_content_type() {
  return {415, "send the message as Content-Type: application/json"};
}

EdgeRules::EdgeRules(const HttpServerOptions& options)
    : hosts_(options.allow_hosts), cors_(options.allow_origins) {
  hosts_.insert(hosts_.end(), {"localhost", "127.0.0.1", "[::1]"});
  allows_every_host_ = std::find(hosts_.begin(), hosts_.end(), "*") != hosts_.end();
}

std::optional<HttpRefusal> EdgeRules::check_peer(const rpc::HeaderMap& headers,
                                                 std::string_view version,
                                                 std::string_view local) const {
  auto [host, host_end] = headers.equal_range(std::string_view("Host"));
  if (host == host_end && version != "HTTP/1.0") {
    return HttpRefusal{400, "the Host header is missing"};
  }
  if (host != host_end && std::next(host) != host_end) {
    return HttpRefusal{400, "the Host header is given twice"};
  }
  if (host != host_end && !allows_every_host_ && !is_own_name(host->second, local)) {
    return HttpRefusal{403,
                       "this Host is not served here: use localhost or the address of the server's "
                       "own network interface, or start the server with --allow-host NAME"};
  }
  auto [origin, origin_end] = headers.equal_range(std::string_view("Origin"));
  if (origin == origin_end) return std::nullopt;
  bool is_allowed = std::next(origin) == origin_end &&
                    (cors_.allows(origin->second) ||
                     (host != host_end && is_own_page(host->second, origin->second, local)));
  if (is_allowed) return std::nullopt;
  return HttpRefusal{403,
                     "calls from web pages of this Origin are not allowed: start the server with "
                     "--allow-origin ORIGIN"};
}

/// Whether the operator, or the address `local`, makes `host` a name of this server. Other names
/// are not accepted, because a foreign name could resolve to this machine (DNS rebinding).
bool EdgeRules::is_own_name(std::string_view host, std::string_view local) const {
  std::string_view name = without_port(host);
  if (name.empty()) return false;
  return name == without_port(local) ||
         std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& allowed) {
           return core::equals_ignoring_case(allowed, name);
         });
}

/// Whether the page comes from this server, or from a proxy that adds TLS and keeps the Host.
bool EdgeRules::is_own_page(std::string_view host, std::string_view origin,
                            std::string_view local) const {
  if (!is_own_name(host, local)) return false;
  for (std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme) &&
        core::equals_ignoring_case(origin.substr(scheme.size()), host))
      return true;
  }
  return false;
}

std::optional<HttpRefusal> EdgeRules::check_content_type(const rpc::HeaderMap& headers) {
  auto [type, end] = headers.equal_range(std::string_view("Content-Type"));
  if (type != end && std::next(type) == end && is_message_type(type->second)) return std::nullopt;
  return wrong_content_type();
}

}  // namespace league::transport::http
