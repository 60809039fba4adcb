#pragma once

#include "tools/check/roles/manager_bench.h"
#include "tools/check/verdict.h"

namespace league::tools::check {

/// All checks of league managers. They use the answers that ManagerBench::play has stored. `bench`
/// must outlive them.
[[nodiscard]] std::vector<Check> manager_checks(ManagerBench& bench);

}  // namespace league::tools::check
