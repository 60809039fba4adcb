#pragma once

#include "common/agent/agent_server.h"

namespace league::referee {

/// The referee's tools that are no league messages, as clients of MCP see them.
[[nodiscard]] agent::ToolDescription start_match_tool();
[[nodiscard]] agent::ToolDescription get_match_state_tool();

/// How a referee presents itself.
[[nodiscard]] mcp::ServerOptions referee_presentation();

}  // namespace league::referee
