#include "league_manager/files/old_logs.h"

#include "common/agent/runtime/log.h"

namespace league::league_manager {

void remove_old_logs(const std::filesystem::path& logs, const audit::LogRetention& retention) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& league : audit::remove_old_leagues(logs, retention, now)) {
    agent::log::info("the conversation logs of an earlier league, {}, are removed (--keep-logs)",
                     (logs / "archive" / league).string());
  }
}

}  // namespace league::league_manager
