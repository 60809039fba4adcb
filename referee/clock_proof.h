#pragma once

#include <optional>

#include "referee/match_types.h"

namespace league::referee {

/// How late this program itself was at the worst during some interval.
struct OwnDelay {
  Duration scheduling{};  ///< a thread that was to run ran so much later
  Duration canary{};  ///< a call to ourselves, the way players are called, took so long

  bool operator==(const OwnDelay&) const = default;
};

/// What was seen of a call while its answer was awaited.
struct CallEvidence {
  std::optional<Instant> sent_at;  ///< when its last byte went to the system; nothing if none did
  OwnDelay own;  ///< from the call to the end of the wait

  bool operator==(const CallEvidence&) const = default;
};

/// Why a call counts as out of time, or does not: a time-out is void when we were late ourselves.
struct ClockProof {
  Duration limit{};  ///< what the player had for its answer
  std::optional<Instant> sent_at;
  Instant gave_up_at{};
  OwnDelay own;

  bool operator==(const ClockProof&) const = default;
};

/// So late may we be ourselves with a call that has `limit`: 5 % of it, and 50 ms at least.
[[nodiscard]] Duration allowed_own_delay(Duration limit);
/// True if we were later than that: the time-out is no fault of the player.
[[nodiscard]] bool is_void(const ClockProof& proof);

}  // namespace league::referee
