#pragma once

#include <string_view>

namespace league::audit {

/// Whether `request`, a JSON-RPC message, only reads public data of a league manager: its status,
/// the table, the states of agents; called directly or by MCP's `tools/call`. Programs that watch a
/// league send such requests all the time, and they belong to no conversation. False for a message
/// longer than any such request needs to be. Source: docs/audit.md, "Files".
[[nodiscard]] bool is_plain_read(std::string_view request);

}  // namespace league::audit
