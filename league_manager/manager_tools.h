#pragma once

#include "common/agent/agent_server.h"

namespace league::league_manager {

/// The manager's tools that are no league messages, as clients of MCP see them. What they take and
/// answer is said here and done in manager_service.cpp; a test compares the two.
[[nodiscard]] agent::ToolDescription get_standings_tool();
[[nodiscard]] agent::ToolDescription get_league_status_tool();
[[nodiscard]] agent::ToolDescription start_league_tool();
[[nodiscard]] agent::ToolDescription new_agent_token_tool();
[[nodiscard]] agent::ToolDescription events_subscribe_tool();
[[nodiscard]] agent::ToolDescription get_agents_tool();
[[nodiscard]] agent::ToolDescription shut_down_agent_tool();
[[nodiscard]] agent::ToolDescription restore_agent_tool();
[[nodiscard]] agent::ToolDescription withdraw_tool();
[[nodiscard]] agent::ToolDescription claim_match_tool();

/// How the manager presents itself.
[[nodiscard]] mcp::ServerOptions manager_presentation();

}  // namespace league::league_manager
