#include "common/transport/stream/request_headers.h"

#include <algorithm>
#include <cctype>

#include "common/core/text.h"
#include "common/transport/link/media_type.h"

namespace league::transport::stream {

namespace {

/// Calls `visit` with each item of a comma-separated list.
template <typename Visit>
void for_each_in_list(std::string_view list, Visit visit) {
  while (!list.empty()) {
    std::size_t comma = std::min(list.find(','), list.size());
    visit(link::trim_blanks(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

/// True when one of the fields `name` lists `item`, in any case.
bool header_lists(const rpc::HeaderMap& headers, std::string_view name, std::string_view item) {
  bool is_listed = false;
  auto [begin, end] = headers.equal_range(name);
  for (auto header = begin; header != end; ++header) {
    for_each_in_list(header->second, [&](std::string_view one) {
      is_listed |= core::equals_ignoring_case(one, item);
    });
  }
  return is_listed;
}

/// Whether the parameters contain `;q=0`, which excludes the type.
bool is_excluded(std::string_view parameters) {
  std::size_t q = parameters.find("q=");
  if (q == std::string_view::npos) return false;
  std::string_view weight = link::trim_blanks(parameters.substr(q + 2));
  return weight.starts_with('0') &&
         weight.substr(0, weight.find(';')).find_first_of("123456789") == std::string_view::npos;
}

/// The base-64 text of 16 bytes.
bool is_web_socket_key(std::string_view key) {
  if (key.size() != 24 || !key.ends_with("==")) return false;
  return std::all_of(key.begin(), key.end() - 2,
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; });
}

/// Judged by the headers, because httplib does not read the body of a GET.
bool has_body(const rpc::HeaderMap& headers) {
  auto length = rpc::find_header(headers, "Content-Length");
  return (length && link::trim_blanks(*length) != "0") || headers.contains("Transfer-Encoding");
}

}  // namespace

AcceptedTypes accepted_types(const rpc::HeaderMap& headers) {
  AcceptedTypes accepted;
  auto [begin, end] = headers.equal_range(std::string_view("Accept"));
  if (begin == end) accepted.json = true;
  for (auto header = begin; header != end; ++header) {
    for_each_in_list(header->second, [&](std::string_view item) {
      std::size_t semicolon = std::min(item.find(';'), item.size());
      std::string_view type = link::trim_blanks(item.substr(0, semicolon));
      if (is_excluded(item.substr(semicolon))) return;
      accepted.json |= type == "*/*" || core::equals_ignoring_case(type, "application/*") ||
                       core::equals_ignoring_case(type, "application/json");
      accepted.event_stream |= core::equals_ignoring_case(type, "text/event-stream") ||
                               core::equals_ignoring_case(type, "text/*");
    });
  }
  return accepted;
}

bool is_upgrade(const rpc::HeaderMap& headers) {
  return header_lists(headers, "Upgrade", "websocket");
}

std::variant<http::HttpRefusal, WebSocketUpgrade> read_upgrade(const rpc::HeaderMap& headers,
                                                               std::string_view version) {
  if (version != "HTTP/1.1" || !header_lists(headers, "Connection", "upgrade")) {
    return http::HttpRefusal{400, "a WebSocket needs HTTP/1.1 and Connection: Upgrade"};
  }
  if (has_body(headers)) return http::HttpRefusal{400, "a request to upgrade has no body"};
  if (link::only_value(headers, "Sec-WebSocket-Version") != "13") {
    return http::HttpRefusal{426, "the only version of the WebSocket protocol served is 13"};
  }
  std::string_view key = link::only_value(headers, "Sec-WebSocket-Key");
  if (!is_web_socket_key(key)) {
    return http::HttpRefusal{400, "Sec-WebSocket-Key must be 16 bytes in base-64, once"};
  }
  WebSocketUpgrade upgrade;
  upgrade.key = key;
  upgrade.offers_mcp = header_lists(headers, "Sec-WebSocket-Protocol", "mcp");
  upgrade.is_relayed = rpc::is_relayed(headers);
  return upgrade;
}

}  // namespace league::transport::stream
