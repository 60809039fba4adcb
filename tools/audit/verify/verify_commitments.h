#pragma once

#include <string>

#include "tools/audit/verify/verify_match.h"

namespace league::tools {

/// Whether the commitments in the accepted reports are those that the players' sealed logs hold,
/// whether they are opened, and whether they held through all attempts. Protocol §7.
void check_commitments(const LeagueEvidence& evidence, Findings& findings);

/// `both`, `one` or `none`, and `claimed` where no sealed log holds a commitment that the report
/// lists: how far the players bound the draw of the match.
[[nodiscard]] std::string sealed_fairness(const AcceptedReport& report, const MatchEvidence& match);

}  // namespace league::tools
