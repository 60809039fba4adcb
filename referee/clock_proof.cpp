#include "referee/clock_proof.h"

#include <algorithm>

namespace league::referee {

Duration allowed_own_delay(Duration limit) {
  constexpr int kShare = 20;
  return std::max<Duration>(limit / kShare, std::chrono::milliseconds(50));
}

bool is_void(const ClockProof& proof) {
  return std::max(proof.own.scheduling, proof.own.canary) > allowed_own_delay(proof.limit);
}

}  // namespace league::referee
