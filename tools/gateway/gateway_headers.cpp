#include "tools/gateway/gateway_headers.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/core/text.h"

namespace league::tools::gateway {
namespace {

constexpr std::array<std::string_view, 15> kStay{"accept",
                                                 "accept-encoding",
                                                 "connection",
                                                 "date",
                                                 "expect",
                                                 "host",
                                                 "keep-alive",
                                                 "last-event-id",
                                                 "origin",
                                                 "te",
                                                 "trailer",
                                                 "upgrade",
                                                 "upgrade-insecure-requests",
                                                 "http2-settings",
                                                 "transfer-encoding"};
constexpr std::array<std::string_view, 5> kStayPrefixes{":", "content-", "proxy-", "mcp-",
                                                        "sec-websocket-"};

bool stays(std::string_view lower_name) {
  return std::find(kStay.begin(), kStay.end(), lower_name) != kStay.end() ||
         std::any_of(kStayPrefixes.begin(), kStayPrefixes.end(),
                     [&](std::string_view prefix) { return lower_name.starts_with(prefix); });
}

/// The fields that are named in `Connection`: they belong to that connection only, too (RFC 9110
/// §7.6.1).
std::set<std::string> named_by_connection(const rpc::HeaderMap& headers) {
  std::set<std::string> names;
  auto [begin, end] = headers.equal_range("connection");
  for (auto it = begin; it != end; ++it) {
    std::string name;
    for (char c : it->second + ",") {
      if (c == ',') {
        if (!name.empty()) names.insert(core::lower_case(name));
        name.clear();
      } else if (c != ' ' && c != '\t') {
        name += c;
      }
    }
  }
  return names;
}

}  // namespace

transport::client::HttpHeaders headers_for_backend(const rpc::HeaderMap& headers) {
  auto named = named_by_connection(headers);
  transport::client::HttpHeaders copied;
  for (const auto& [name, value] : headers) {
    std::string lower = core::lower_case(name);
    if (!stays(lower) && !named.contains(lower)) copied.emplace_back(name, value);
  }
  copied.push_back(kVia);
  return copied;
}

transport::client::HttpHeaders argument_headers(const rpc::MessageContext& context) {
  transport::client::HttpHeaders copied;
  const auto* http = context.transport.as_http();
  if (http == nullptr || !http->headers) return copied;
  for (const auto& [name, value] : *http->headers) {
    if (core::lower_case(name).starts_with("mcp-param-")) copied.emplace_back(name, value);
  }
  return copied;
}

}  // namespace league::tools::gateway
