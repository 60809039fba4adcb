#pragma once

#include <string>
#include <vector>

#include "league_manager/files/league_book.h"

namespace league::tools {

/// Why a player lost matches without playing them, the same reason taken together.
struct TechnicalLosses {
  std::string player_id;
  /// `GAME_INVITATION: E001 TIMEOUT_ERROR`, `PLAYER_SHUT_DOWN (SHUT_DOWN_BY_OPERATOR)`, else the
  /// referee's or the manager's word for it.
  std::string reason;
  std::vector<std::string> matches;  ///< `R1M2`
};

/// Every technical loss in the journal, whoever decided it, by player and reason. Adds up to the
/// lost matches: where both players of one lost, both are named.
[[nodiscard]] std::vector<TechnicalLosses> technical_losses_of(
    const league_manager::LeagueBook& book);

}  // namespace league::tools
