#pragma once

#include <vector>

#include "common/audit/log/chain_verifier.h"
#include "tools/audit/evidence/verify_facts.h"

namespace league::tools {

/// The proofs of a report's time-outs: whether a match that was lost for time has them, and whether
/// they allow the loss. Source: the fair clock of docs/protocol.md.
void check_clock(const AcceptedReport& report, std::vector<audit::LogFault>& faults);

}  // namespace league::tools
