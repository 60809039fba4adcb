#pragma once

#include <string>
#include <string_view>

#include "common/envelope/message_type.h"
#include "common/mcp/registry.h"

namespace league::agent {

/// What answers a message that expects none of the league's: `{"status": "ok"}`, perhaps with more.
inline constexpr std::string_view kAcknowledgement =
    R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object",)"
    R"("properties":{"status":{"type":"string","description":"`ok`: the message was taken."}},)"
    R"("required":["status"]})";

/// The tool that carries messages of `type`, as clients of MCP see it; its schemas are those of the
/// message and of its reply. Without a handler.
[[nodiscard]] mcp::ServerTool message_tool(envelope::MessageType type);

/// `Choose parity` for `choose_parity`.
[[nodiscard]] std::string tool_title(std::string_view name);

}  // namespace league::agent
