#pragma once

#include <string>
#include <vector>

#include "common/schema/fields.h"
#include "league_manager/files/league_book.h"

namespace league::tools {

/// The matches that a player lost technically for the same reason.
struct TechnicalLosses {
  std::string player_id;
  /// `GAME_INVITATION: E001 TIMEOUT_ERROR`, `PLAYER_SHUT_DOWN (SHUT_DOWN_BY_OPERATOR)`, otherwise
  /// the reason given by the referee or the manager.
  std::string reason;
  std::vector<std::string> matches;  ///< `R1M2`

  void describe(schema::Fields& a) {
    a.required("player_id", player_id, "reason", reason, "matches", matches);
  }
};

/// Every technical loss in the journal, whoever decided it, by player and reason. If both players
/// of a match lost, it is listed for both.
[[nodiscard]] std::vector<TechnicalLosses> technical_losses_of(
    const league_manager::files::LeagueBook& book);

}  // namespace league::tools
