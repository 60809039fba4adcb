#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "common/core/result.h"

namespace league::tools {

/// Tells the manager that runs on the data directory `data`, and that waits for other managers, to
/// lead with the events up to number `last` of its journal, although others may have acknowledged
/// more: writes the file `lose_after` (mode 0600), which the manager reads and removes within a
/// second. Returns the file. Fails with kInvalidFieldValue and the remedy unless `data` is the
/// directory of a manager that shares its league with others and `last` is a number, and with
/// kInternalError if the file cannot be written. Source: docs/operating_a_bus.md.
[[nodiscard]] core::Result<std::filesystem::path> request_lead(const std::filesystem::path& data,
                                                               std::string_view last);

}  // namespace league::tools
