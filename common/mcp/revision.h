#pragma once

#include <array>
#include <string_view>

namespace league::mcp {

/// The revisions of MCP that have a handshake and sessions, oldest first.
inline constexpr std::array<std::string_view, 4> kLegacyRevisions{"2024-11-05", "2025-03-26",
                                                                  "2025-06-18", "2025-11-25"};
/// The revision that a server offers if `initialize` names one that it does not know.
inline constexpr std::string_view kNewestLegacyRevision = kLegacyRevisions.back();
/// The stateless revision: no handshake, the version travels in every request.
inline constexpr std::string_view kModernRevision = "2026-07-28";

/// True for a revision with a handshake that we speak.
[[nodiscard]] constexpr bool is_legacy_revision(std::string_view revision) {
  for (std::string_view known : kLegacyRevisions) {
    if (known == revision) return true;
  }
  return false;
}

/// Names of the modern dialect (MCP 2026-07-28, basic protocol).
inline constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kClientCapabilitiesKey =
    "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kClientInfoKey = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";

}  // namespace league::mcp
