#pragma once

#include <string_view>

#include "common/mcp/revision.h"

namespace league::mcp {

/// Codes of errors that MCP adds to those of JSON-RPC.
inline constexpr int kResourceNotFound = -32002;  ///< revisions with a handshake only
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingClientCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

/// Header fields of Streamable HTTP.
inline constexpr std::string_view kVersionHeader = "MCP-Protocol-Version";
inline constexpr std::string_view kMethodHeader = "Mcp-Method";
inline constexpr std::string_view kNameHeader = "Mcp-Name";
inline constexpr std::string_view kParameterHeaderPrefix = "Mcp-Param-";

/// Further names of the modern dialect, beside those of revision.h.
inline constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
inline constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";

/// The parameter whose value `Mcp-Name` repeats; empty if the method has none.
[[nodiscard]] constexpr std::string_view named_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : "";
}

/// Which family of revisions a request belongs to.
enum class Dialect {
  kLegacy,  ///< 2024-11-05 to 2025-11-25: handshake, sessions
  kModern,  ///< 2026-07-28: stateless
};

}  // namespace league::mcp
