#include "common/transport/stream/upgrade_request.h"

#include <cctype>
#include <iterator>

#include "common/transport/stream/header_list.h"

namespace league::transport {

namespace {

/// The base-64 text of 16 bytes.
bool is_web_socket_key(std::string_view key) {
  if (key.size() != 24 || !key.ends_with("==")) return false;
  return std::all_of(key.begin(), key.end() - 2,
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; });
}

/// The only value of a field that must be there once.
std::string_view only_value(const rpc::HeaderMap& headers, std::string_view name) {
  auto [begin, end] = headers.equal_range(name);
  return begin != end && std::next(begin) == end ? trim_blanks(begin->second) : std::string_view{};
}

/// httplib leaves bodies of GET unread, so their headers tell.
bool has_body(const rpc::HeaderMap& headers) {
  auto length = rpc::find_header(headers, "Content-Length");
  return (length && trim_blanks(*length) != "0") || headers.contains("Transfer-Encoding");
}

}  // namespace

bool is_upgrade(const rpc::HeaderMap& headers) {
  return header_lists(headers, "Upgrade", "websocket");
}

std::variant<HttpRefusal, WebSocketUpgrade> read_upgrade(const rpc::HeaderMap& headers,
                                                         std::string_view version) {
  if (version != "HTTP/1.1" || !header_lists(headers, "Connection", "upgrade")) {
    return HttpRefusal{400, "a WebSocket needs HTTP/1.1 and Connection: Upgrade"};
  }
  if (has_body(headers)) return HttpRefusal{400, "a request to upgrade has no body"};
  if (only_value(headers, "Sec-WebSocket-Version") != "13") {
    return HttpRefusal{426, "the only version of the WebSocket protocol served is 13"};
  }
  std::string_view key = only_value(headers, "Sec-WebSocket-Key");
  if (!is_web_socket_key(key)) {
    return HttpRefusal{400, "Sec-WebSocket-Key must be 16 bytes in base-64, once"};
  }
  WebSocketUpgrade upgrade;
  upgrade.key = key;
  upgrade.offers_mcp = header_lists(headers, "Sec-WebSocket-Protocol", "mcp");
  upgrade.is_relayed = rpc::is_relayed(headers);
  return upgrade;
}

}  // namespace league::transport
