#pragma once

#include <optional>

#include "common/core/own_delay.h"
#include "referee/core/match_types.h"

namespace league::referee {

using core::OwnDelay;

/// Measurements made while a call waited for its answer.
struct CallEvidence {
  std::optional<Instant> sent_at;  ///< when its last byte was passed to the system; nothing: it was
                                   ///< not, or unknown
  OwnDelay own;  ///< from the call to the end of the wait
  Duration grace{};  ///< for which the referee waits longer than the limit: for a seat's answer

  bool operator==(const CallEvidence&) const = default;
};

/// Measurements that decide whether a time-out counts: it is void if the referee itself was late.
struct ClockProof {
  Duration limit{};  ///< the time that the player had for its answer
  std::optional<Instant> sent_at;
  Instant gave_up_at{};
  OwnDelay own;

  bool operator==(const ClockProof&) const = default;
};

/// True if the referee was later than core::allowed_own_delay: the time-out is not the player's
/// fault.
[[nodiscard]] inline bool is_void(const ClockProof& proof) {
  return core::was_too_late(proof.own, proof.limit);
}

}  // namespace league::referee
