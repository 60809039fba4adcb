#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace league::agent {

/// The value of `traceparent` (W3C Trace Context) for one call. The trace is that of the
/// conversation, whoever calls whom in it: its id is the first 16 bytes of the SHA-256 of
/// `LEAGUE/CONVERSATION`, so that it follows from any log. `message` is JSON text that may name the
/// league in `league_id`. `span` numbers the calls of this process. Thread-safe.
[[nodiscard]] std::string trace_parent(std::string_view message, std::string_view conversation_id,
                                       std::uint64_t span);

}  // namespace league::agent
