#pragma once

#include <optional>

#include "common/core/own_delay.h"
#include "referee/core/match_types.h"

namespace league::referee {

using core::OwnDelay;

/// What was measured while a call waited for its answer.
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

/// True if we were later than core::allowed_own_delay: the time-out is no fault of the player.
[[nodiscard]] bool is_void(const ClockProof& proof);

}  // namespace league::referee
