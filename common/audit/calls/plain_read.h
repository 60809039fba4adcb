#pragma once

#include <string_view>

namespace league::audit {

/// Whether `request`, a JSON-RPC message, only reads what a league manager shows everybody: its
/// status, the table, the states of agents; called directly or by MCP's `tools/call`. Whoever
/// watches a league asks for them all the time, and they belong to no conversation. False for what
/// is longer than any of them has to be. Source: docs/audit.md, "Files".
[[nodiscard]] bool is_plain_read(std::string_view request);

}  // namespace league::audit
