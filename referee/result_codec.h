#pragma once

#include "common/core/timestamp.h"
#include "common/envelope/game_messages.h"
#include "referee/match_result.h"

namespace league::referee {

/// One instant on both clocks, by which others are converted: the same for every repetition of a
/// report, so that repetitions are alike.
struct ClockAnchor {
  Instant steady{};
  core::UtcTimestamp utc{};
};

/// What the players are told (message 10).
[[nodiscard]] envelope::GameResult game_result(const MatchResult& result,
                                               const PerPlayer<core::PlayerId>& players);

/// What the league manager is told (message 11).
[[nodiscard]] envelope::MatchResult match_result(const MatchResult& result,
                                                 const PerPlayer<core::PlayerId>& players,
                                                 int attempt, const std::string& draw_proof,
                                                 const ClockAnchor& anchor);

}  // namespace league::referee
