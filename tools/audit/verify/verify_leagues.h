#pragma once

#include <vector>

#include "tools/audit/verify/verify_league.h"

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

}  // namespace league::tools::auditor
