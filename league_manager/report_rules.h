#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "league_manager/agent_lifecycle.h"
#include "league_manager/match_key.h"
#include "league_manager/match_result.h"
#include "league_manager/schedule.h"

namespace league::league_manager {

/// A failed call that a referee has seen (`details.failures`).
struct ReportedFailure {
  std::string player_id;
  FailureKind kind = FailureKind::kTimeout;
};

/// A MATCH_RESULT_REPORT in the core's words. Player ids are as sent.
struct MatchReport {
  MatchKey match;
  std::optional<int>
      attempt;  ///< nothing: the referee's latest attempt (foreign referees do not know attempts)
  std::optional<std::string> winner_id;
  std::vector<std::pair<std::string, int>> score;
  std::optional<int> drawn_number;
  std::vector<std::pair<std::string, std::optional<std::string>>>
      choices;  ///< player id, `even`, `odd` or nothing
  std::string technical_reason;  ///< machine-readable, at most 100 characters; empty if the match
                                 ///< was played
  std::vector<ReportedFailure> failures;
};

/// The result that `report` states, if it is one of `pairing` under the rules: the score fits the
/// winner (3-0, 1-1, or 0-0 after technical losses of both), and a match that was played names a
/// number of 1-10 and both choices and was won by the one player whose choice fits the number, or
/// by nobody. Fails with kInvalidResult. Source: protocol §6, §7.
[[nodiscard]] core::Result<MatchResult> check_report(const MatchReport& report, Pairing pairing);

}  // namespace league::league_manager
