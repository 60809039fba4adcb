#pragma once

#include <string_view>

#include "common/envelope/message_type.h"
#include "common/mcp/registry.h"

namespace league::agent::host {

/// The tool that carries messages of `type`, as MCP clients see it; its schemas are those of the
/// message and its reply. It has no handler yet.
[[nodiscard]] mcp::ServerTool message_tool(envelope::MessageType type);

/// A tool that does not carry a league message, as schemas/tools/NAME.json describes it to MCP
/// clients. It has no handler yet.
[[nodiscard]] mcp::ServerTool described_tool(std::string_view name);

}  // namespace league::agent::host
