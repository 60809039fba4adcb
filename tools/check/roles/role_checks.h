#pragma once

#include "tools/check/player/player_checks.h"
#include "tools/check/roles/manager_bench.h"
#include "tools/check/roles/referee_bench.h"
#include "tools/check/verdict.h"

namespace league::tools::check {

/// All checks of league managers. They use the answers that ManagerBench::play has stored. `bench`
/// must outlive them.
[[nodiscard]] std::vector<Check> manager_checks(ManagerBench& bench);

/// All checks of referees. `bench` outlives them.
[[nodiscard]] Checks referee_checks(RefereeBench& bench);

// The parts of it, one source file each.
void add_referee_match_checks(RefereeBench& bench, Checks& out);
void add_referee_fault_checks(RefereeBench& bench, Checks& out);

}  // namespace league::tools::check
