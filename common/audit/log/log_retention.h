#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"

namespace league::audit::log {

/// How long the logs of earlier leagues are kept; both empty: forever.
struct LogRetention {
  std::optional<std::chrono::hours> age;  ///< since their last line
  std::optional<std::uint64_t> bytes;  ///< of all of them together
};

/// `30d` or `30` for days, `500M`, `20G`, `1T` for a size (powers of 1024; `MiB` and `MB` are the
/// same). Fails with kInvalidFieldValue for anything else, and for 0.
[[nodiscard]] core::Result<LogRetention> parse_retention(std::string_view text);

/// Removes from `logs`/archive the leagues that `retention` does not keep, the oldest first, each
/// as a whole, so that nobody can hide a part. Never touches the league whose logs are in `logs`
/// itself. Returns the names of the removed folders; folders that cannot be removed stay. For one
/// process at a time. Source: docs/audit.md, "Files".
std::vector<std::string> remove_old_leagues(const std::filesystem::path& logs,
                                            const LogRetention& retention,
                                            std::filesystem::file_time_type now);

}  // namespace league::audit::log
