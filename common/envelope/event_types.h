#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/core/text.h"

namespace league::envelope {

/// The types of events that a league publishes to everybody, as they occur in the subjects: the
/// types of the four broadcasts in lower case. Source: docs/distributed.md.
inline constexpr auto kEventTypes = std::to_array<std::string_view>(
    {"round_announcement", "league_standings_update", "round_completed", "league_completed"});

[[nodiscard]] constexpr bool is_event_type(std::string_view type) {
  return std::ranges::find(kEventTypes, type) != kEventTypes.end();
}

/// The event type for a name that somebody may have written like a message type, in upper case. Not
/// checked: other texts are only converted to lower case.
[[nodiscard]] inline std::string event_type_of(std::string_view written) {
  return core::lower_case(written);
}

/// Type of the server-sent event that says that the numbering starts again, because the broker has
/// lost its events.
inline constexpr std::string_view kEventsReset = "reset";

/// The error text for an unknown event `type`.
[[nodiscard]] inline std::string unknown_event_type(std::string_view type) {
  std::string text =
      "there are no events of type '" + std::string(type.substr(0, 64)) + "'; the types are ";
  for (std::size_t i = 0; i < kEventTypes.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(kEventTypes[i]);
  return text;
}

}  // namespace league::envelope
