#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/mcp/protocol.h"
#include "common/rpc/context.h"

namespace league::mcp {

/// What a message and its headers show about its dialect. Valid as long as both exist.
struct RequestSigns {
  std::string_view method;  ///< empty: missing or not a string
  const nlohmann::json* meta = nullptr;  ///< `params._meta`, where it is an object
  const nlohmann::json* meta_version = nullptr;  ///< in `meta`; of any type
  std::optional<std::string_view> version_header;
  std::optional<std::string_view> session_header;
  const rpc::HeaderMap* headers = nullptr;  ///< null where the transport has none

  /// True for the stateless revision, or a newer one that we do not know.
  [[nodiscard]] bool is_modern() const;
};

[[nodiscard]] RequestSigns read_signs(const nlohmann::json& document,
                                      const rpc::MessageContext& context);
/// The same from the headers alone.
[[nodiscard]] RequestSigns read_signs(const rpc::MessageContext& context);

/// True for a version header with the stateless revision or a later one.
[[nodiscard]] bool is_modern_version(std::string_view version);

/// Why a modern request is refused before its method is handled.
struct ModernFault {
  int code = 0;
  std::string message;
  nlohmann::json data = nullptr;
  int http_status = 400;
};

/// Checks `_meta`, and that the headers agree with the body. `is_request` is false for
/// notifications, which may omit headers. `headers_of` returns the arguments of a tool that headers
/// repeat. Source: MCP 2026-07-28, basic protocol and Streamable HTTP.
[[nodiscard]] std::optional<ModernFault> check_modern(
    const RequestSigns& signs, const nlohmann::json& document, bool is_request,
    const std::function<std::vector<std::pair<std::string, std::string>>(std::string_view)>&
        headers_of);

/// The text that a header value encodes: the value without surrounding white space, or the decoded
/// content of `=?base64?…?=`. Nothing if the base64 is invalid.
[[nodiscard]] std::optional<std::string> decode_header_value(std::string_view value);

}  // namespace league::mcp
