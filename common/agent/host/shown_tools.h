#pragma once

#include <string_view>

#include "common/envelope/message_type.h"
#include "common/mcp/registry.h"

namespace league::agent {

/// The tool that carries messages of `type`, as clients of MCP see it; its schemas are those of the
/// message and of its reply. Without a handler.
[[nodiscard]] mcp::ServerTool message_tool(envelope::MessageType type);

/// A tool that is no league message, as clients of MCP see it: what schemas/tools/NAME.json says.
/// Without a handler.
[[nodiscard]] mcp::ServerTool described_tool(std::string_view name);

}  // namespace league::agent
