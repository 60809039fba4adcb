#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/audit/log_reader.h"

namespace league::tools {

/// Why a player lost matches without playing them, the same reason taken together.
struct TechnicalLosses {
  std::string player_id;
  std::string reason;  ///< `GAME_INVITATION: E001 TIMEOUT_ERROR`, else the referee's word for it
  std::vector<std::string> matches;  ///< `R1M2`
};

/// The technical losses in accepted MATCH_RESULT_REPORTs of the manager's log, by player and
/// reason. Losses that the manager decides itself (of a player that is shut down, or of a match
/// that no referee could bring to an end) are in no report.
[[nodiscard]] std::vector<TechnicalLosses> technical_losses_of(
    const std::vector<audit::LogEntry>& reports);
/// The same from the logs below `logs`.
[[nodiscard]] std::vector<TechnicalLosses> find_technical_losses(const std::filesystem::path& logs);

}  // namespace league::tools
