#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/mcp/client/negotiation.h"
#include "common/rpc/id.h"

namespace league::mcp::client {

/// One request in the form of the agreed revision.
struct RequestFrame {
  std::string bytes;
  Headers headers;
};

/// The identity of this client, which the modern dialect sends with each request.
struct ClientIdentity {
  std::string name = "league";
  std::string version = LEAGUE_VERSION;
  /// What the server may request of the client (ClientCapabilities of MCP), a JSON object.
  nlohmann::json capabilities = nlohmann::json::object();
};

/// Frames a request. `params` is the text of a JSON object, or empty. With `wants_progress` the id
/// is also the progress token; with `is_relayed` the client information in `_meta` is kept. Fails
/// with kMalformedMessage if `params` has to be parsed and is not a JSON object. Pure.
[[nodiscard]] core::Result<RequestFrame> frame_request(const Negotiated& negotiated,
                                                       const ClientIdentity& client,
                                                       const rpc::Id& id, std::string_view method,
                                                       std::string_view params,
                                                       bool wants_progress = false,
                                                       bool is_relayed = false);

/// The headers that every message of the session carries on HTTP.
[[nodiscard]] Headers session_headers(const Negotiated& negotiated);

/// A header value in the form of the modern dialect: unchanged if it is visible ASCII, otherwise
/// `=?base64?…?=`.
[[nodiscard]] std::string header_value(std::string_view text);

}  // namespace league::mcp::client
