#pragma once

#include <set>
#include <string>

#include "common/core/result.h"
#include "tools/check/report.h"

namespace league::tools::check {

/// The ids of checks that are known to fail: one a line, `#` begins a comment. An empty `file` is
/// an empty baseline. Fails where the file cannot be read.
[[nodiscard]] core::Result<std::set<std::string>> read_baseline(const std::string& file);

/// Marks the failures that `known` names, and lists as stale what it names and did not fail.
void apply_baseline(const std::set<std::string>& known, Report& report);

}  // namespace league::tools::check
