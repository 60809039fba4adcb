#pragma once

#include <vector>

#include "common/audit/log/log_segments.h"
#include "common/envelope/message_schemas.h"
#include "tools/audit/verify/verify_leagues.h"

namespace league::tools::auditor {

/// Reads and checks each log separately, on several threads (0: one per processor); only the chains
/// if `schemas` is null.
[[nodiscard]] std::vector<CheckedLog> read_logs(const std::vector<audit::log::LogSegments>& logs,
                                                const envelope::MessageSchemas* schemas,
                                                std::size_t threads);

/// Checks the records of one league, and its files in `data` unless that is empty. Removes from
/// `group` what the operator has given up.
void check_league(LeagueGroup& group, const std::filesystem::path& data, Findings& findings);

}  // namespace league::tools::auditor
