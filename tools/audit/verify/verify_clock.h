#pragma once

#include <vector>

#include "common/audit/log/chain_verifier.h"
#include "tools/audit/evidence/verify_facts.h"

namespace league::tools::auditor {

/// Checks the clock proofs of a report: that a match that was lost by a time-out has them, and that
/// they justify the loss. Source: the fair clock of docs/protocol.md.
void check_clock(const AcceptedReport& report, std::vector<audit::log::LogFault>& faults);

}  // namespace league::tools::auditor
