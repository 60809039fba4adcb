#pragma once

#include <string>

#include "tools/audit/verify/verify_match.h"

namespace league::tools::auditor {

/// Checks that the commitments in the accepted reports are those in the players' sealed logs, that
/// they are opened, and that they stay the same in all attempts. Protocol §7.
void check_commitments(const LeagueEvidence& evidence, Findings& findings);

/// The fairness of a match: `both`, `one` or `none` of the players committed; `claimed` if the
/// report lists a commitment that is in no sealed log.
[[nodiscard]] std::string sealed_fairness(const AcceptedReport& report, const MatchEvidence& match);

}  // namespace league::tools::auditor
