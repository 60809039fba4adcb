#pragma once

#include <string>

#include "player/core/history.h"

namespace league::player {

/// The owner of a history.
struct HistoryOwner {
  core::PlayerId player_id{};
  std::string display_name;
  /// A league that the player has just entered: matches of it in the file are those of an earlier
  /// league with the same name. Empty: the player is back in a league, or in none yet.
  core::LeagueId new_league{};
};

/// The whole content of `history.json`.
[[nodiscard]] std::string history_text(const MatchHistory& history, const HistoryOwner& owner);

}  // namespace league::player
