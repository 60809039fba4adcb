#pragma once

#include "common/agent/agent_server.h"

namespace league::player {

/// The player's tool that is no league message, as clients of MCP see it.
[[nodiscard]] agent::ToolDescription get_player_state_tool();

/// How a player presents itself.
[[nodiscard]] mcp::ServerOptions player_presentation();

}  // namespace league::player
