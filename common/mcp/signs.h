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

/// What a message and its headers say about the dialect that it is written in. Valid as long as
/// both.
struct RequestSigns {
  std::string_view method;  ///< empty: none, or no text
  const nlohmann::json* meta = nullptr;  ///< `params._meta`, where it is an object
  const nlohmann::json* meta_version = nullptr;  ///< in `meta`; of any type
  std::optional<std::string_view> version_header;
  std::optional<std::string_view> session_header;
  const rpc::HeaderMap* headers = nullptr;  ///< null where the transport has none

  /// The stateless revision, or a newer one that we do not know.
  [[nodiscard]] bool is_modern() const;
};

[[nodiscard]] RequestSigns read_signs(const nlohmann::json& document,
                                      const rpc::MessageContext& context);
/// The same of the headers alone.
[[nodiscard]] RequestSigns read_signs(const rpc::MessageContext& context);

/// True for a header that names the stateless revision or one after it.
[[nodiscard]] bool is_modern_version(std::string_view version);

/// Why a modern request is refused before its method is looked at.
struct ModernFault {
  int code = 0;
  std::string message;
  nlohmann::json data = nullptr;
  int http_status = 400;
};

/// Checks `_meta` and that the headers say the same as the body. `is_request` is false for
/// notifications, which may leave headers out. `headers_of` names the arguments of a tool that
/// headers repeat. Source: MCP 2026-07-28, basic protocol and Streamable HTTP.
[[nodiscard]] std::optional<ModernFault> check_modern(
    const RequestSigns& signs, const nlohmann::json& document, bool is_request,
    const std::function<std::vector<std::pair<std::string, std::string>>(std::string_view)>&
        headers_of);

/// The text that a header value stands for: itself without white space around it, or what is in
/// `=?base64?…?=`. Nothing for base64 that is none.
[[nodiscard]] std::optional<std::string> decode_header_value(std::string_view value);

}  // namespace league::mcp
