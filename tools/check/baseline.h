#pragma once

#include <set>
#include <string>

#include "common/core/result.h"
#include "tools/check/report.h"

namespace league::tools::check {

/// The ids of checks that are known to fail: one per line, `#` begins a comment. An empty `file` is
/// an empty baseline. Fails if the file cannot be read.
[[nodiscard]] core::Result<std::set<std::string>> read_baseline(const std::string& file);

/// Marks failures that are in `known`, and lists as stale the entries of `known` that did not fail.
void apply_baseline(const std::set<std::string>& known, Report& report);

}  // namespace league::tools::check
