#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/core/text.h"

namespace league::envelope {

/// What a league tells everybody, as it stands in the subjects of events: the types of the four
/// broadcasts in small letters. Source: docs/distributed.md.
inline constexpr auto kEventTypes = std::to_array<std::string_view>(
    {"round_announcement", "league_standings_update", "round_completed", "league_completed"});

[[nodiscard]] constexpr bool is_event_type(std::string_view type) {
  return std::ranges::find(kEventTypes, type) != kEventTypes.end();
}

/// The type that somebody means who may have written it as a broadcast is called, in capitals; the
/// text in small letters where it is none.
[[nodiscard]] inline std::string event_type_of(std::string_view written) {
  return core::lower_case(written);
}

/// Type of the server-sent event that says that numbers begin anew: the broker has lost its events.
inline constexpr std::string_view kEventsReset = "reset";

/// Why `type` is no event type, for its author.
[[nodiscard]] inline std::string unknown_event_type(std::string_view type) {
  std::string text =
      "there are no events of type '" + std::string(type.substr(0, 64)) + "'; the types are ";
  for (std::size_t i = 0; i < kEventTypes.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(kEventTypes[i]);
  return text;
}

}  // namespace league::envelope
