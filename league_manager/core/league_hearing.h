#pragma once

#include <optional>
#include <string>
#include <vector>

#include "league_manager/core/league.h"

namespace league::league_manager {

/// What a report and the players say together.
struct League::Examination {
  game::PerSide<events::PlayerReceipts> receipts;
  std::optional<std::string> contradiction = std::nullopt;  ///< by a receipt; gives the match away
  game::PerSide<std::optional<ReportedLoss>> losses;  ///< of players that can contradict them
  std::vector<int> ask;  ///< players whose word is still missing
  std::vector<events::HeardPlayer> words;  ///< of the players that were asked
  game::PerSide<std::optional<events::HeardPlayer>> contradicted;  ///< losses, by these words
};

/// Whether the player of `side` lost technically: in a technical result, everybody but the winner.
[[nodiscard]] inline bool has_lost_technically(const game::MatchResult& result, game::Side side) {
  return result.is_technical() && game::winner_of(result.outcome) != side;
}

}  // namespace league::league_manager
