#pragma once

#include "common/envelope/game_messages.h"
#include "referee/match_result.h"

namespace league::referee {

/// What the players are told (message 10).
[[nodiscard]] envelope::GameResult game_result(const MatchResult& result,
                                               const PerPlayer<core::PlayerId>& players);

/// What the league manager is told (message 11).
[[nodiscard]] envelope::MatchResult match_result(const MatchResult& result,
                                                 const PerPlayer<core::PlayerId>& players,
                                                 int attempt, const std::string& draw_proof);

}  // namespace league::referee
