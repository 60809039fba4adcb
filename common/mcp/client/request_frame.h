#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/mcp/client/negotiation.h"
#include "common/rpc/id.h"

namespace league::mcp {

/// One request as the agreed revision wants it.
struct RequestFrame {
  std::string bytes;
  Headers headers;
};

/// Who we are, for the modern dialect, which says it with each request.
struct ClientIdentity {
  std::string name = "league";
  std::string version = LEAGUE_VERSION;
  /// What the server may ask of us (ClientCapabilities of MCP), a JSON object.
  nlohmann::json capabilities = nlohmann::json::object();
};

/// Frames a request. `params` is the text of a JSON object, or empty; with `wants_progress` the id
/// is the progress token too; with `is_relayed` the client that `_meta` names stays. Fails with
/// kMalformedMessage when `params` is no JSON object and has to be read. Pure.
[[nodiscard]] core::Result<RequestFrame> frame_request(const Negotiated& negotiated,
                                                       const ClientIdentity& client,
                                                       const rpc::Id& id, std::string_view method,
                                                       std::string_view params,
                                                       bool wants_progress = false,
                                                       bool is_relayed = false);

/// The headers that every message of the session carries on HTTP.
[[nodiscard]] Headers session_headers(const Negotiated& negotiated);

/// A header value as the modern dialect writes it: as it is when it is visible ASCII, else
/// `=?base64?…?=`.
[[nodiscard]] std::string header_value(std::string_view text);

}  // namespace league::mcp
