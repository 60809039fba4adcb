#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace league::tools {

/// How one event of a league is shown.
struct EventLineOptions {
  std::string key;  ///< public key of the league's manager, 64 hexadecimal digits; empty:
                    ///< signatures are not verified
  bool is_json = false;  ///< one JSON object instead of a line for people
};

/// An event as one line without its end. `sequence` is its number in the stream, 0 for none. JSON
/// has `sequence` (null for none), `verified` (null without a key) and `event`, the JSON-RPC
/// notification as received; if it is not JSON, `text` instead. Thread-safe.
[[nodiscard]] std::string event_line(std::uint64_t sequence, std::string_view payload,
                                     const EventLineOptions& options);

}  // namespace league::tools
