#pragma once

#include <vector>

#include "tools/audit/verify/verify_leagues.h"

namespace league::tools::auditor {

/// Whether nothing in the logs says that the league is over, or that its manager has stopped.
[[nodiscard]] bool is_running(const std::vector<LeagueLog>& logs);

/// The files of a plain copy of a running league are of different moments: what one of them lacks
/// at its end, another may already have. Moves such findings from `faults` to `missing`, and says
/// how to make a copy of one moment.
void excuse_running_copy(std::vector<audit::log::LogFault>& faults,
                         std::vector<audit::log::LogFault>& missing);

}  // namespace league::tools::auditor
