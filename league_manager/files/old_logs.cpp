#include "league_manager/files/old_logs.h"

#include <spdlog/spdlog.h>

namespace league::league_manager {

void remove_old_logs(const std::filesystem::path& logs, const audit::LogRetention& retention) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& league : audit::remove_old_leagues(logs, retention, now)) {
    spdlog::info("the conversation logs of an earlier league, {}, are removed (--keep-logs)",
                 (logs / "archive" / league).string());
  }
}

}  // namespace league::league_manager
