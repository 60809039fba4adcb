#pragma once

#include <filesystem>

#include "common/audit/log/log_retention.h"

namespace league::league_manager {

/// Removes the conversation logs of earlier leagues that `retention` does not keep (see
/// audit::remove_old_leagues), and tells the operator which.
void remove_old_logs(const std::filesystem::path& logs, const audit::LogRetention& retention);

}  // namespace league::league_manager
