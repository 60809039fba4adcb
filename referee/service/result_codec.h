#pragma once

#include "common/core/timestamp.h"
#include "common/envelope/game_messages.h"
#include "referee/core/match_result.h"

namespace league::referee::service {

/// One instant on both clocks, by which other times are converted. All repetitions of a report use
/// the same anchor, so that they are identical.
struct ClockAnchor {
  Instant steady{};
  core::UtcTimestamp utc{};
};

/// What both messages contain besides the result itself. The rules must outlive it.
struct ResultFrame {
  const game::Definition& rules;
  PerSide<core::PlayerId> players;
  std::string draw_proof;  ///< the seed, in hexadecimal
};

/// The message to the players (message 10).
[[nodiscard]] envelope::GameOver game_over(const RefereedMatch& match, const ResultFrame& frame);

/// The message to the league manager (message 11).
[[nodiscard]] envelope::MatchResultReport match_report(const RefereedMatch& match,
                                                       const ResultFrame& frame, int attempt,
                                                       const ClockAnchor& anchor);

}  // namespace league::referee::service
