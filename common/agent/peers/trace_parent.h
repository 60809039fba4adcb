#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace league::agent::peers {

/// The value of `traceparent` (W3C Trace Context) for one call. All calls of a conversation have
/// the same trace: its id is the first 16 bytes of the SHA-256 of `LEAGUE/CONVERSATION`, so it can
/// be computed from any log. `message` is JSON text that may name the league in `league_id`. `span`
/// is the number of the call in this process. Thread-safe.
[[nodiscard]] std::string trace_parent(std::string_view message, std::string_view conversation_id,
                                       std::uint64_t span);

}  // namespace league::agent::peers
