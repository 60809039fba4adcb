#include "referee/core/clock_proof.h"

namespace league::referee {

bool is_void(const ClockProof& proof) { return core::was_too_late(proof.own, proof.limit); }

}  // namespace league::referee
