#pragma once

#include <vector>

#include "common/audit/log/log_segments.h"
#include "common/envelope/message_schemas.h"
#include "tools/audit/rules/league_log.h"
#include "tools/audit/rules/leagues.h"

namespace league::tools::auditor {
/// The logs of one league.
struct LeagueGroup {
  audit::log::LeagueIdentity league;
  std::vector<LeagueLog> logs;
  bool is_current = false;  ///< the last league of the directory, to which data/ belongs
};

/// Groups the facts of the logs by league: by the league's key in the headers, or, without one, by
/// its id and by the beginnings of the manager's log. Moves the facts out of `logs`, which outlive
/// the groups. The current league comes last.
[[nodiscard]] std::vector<LeagueGroup> group_by_league(std::vector<CheckedLog>& logs);

/// Reads and checks each log separately, on several threads (0: one per processor); only the chains
/// if `schemas` is null.
[[nodiscard]] std::vector<CheckedLog> read_logs(const std::vector<audit::log::LogSegments>& logs,
                                                const envelope::MessageSchemas* schemas,
                                                std::size_t threads);

/// Checks the records of one league, and its files in `data` unless that is empty. Removes from
/// `group` what the operator has given up.
void check_league(LeagueGroup& group, const std::filesystem::path& data, Findings& findings);

}  // namespace league::tools::auditor
