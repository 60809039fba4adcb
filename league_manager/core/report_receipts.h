#pragma once

#include <optional>
#include <string>
#include <vector>

#include "game/side.h"
#include "league_manager/core/player_record.h"
#include "league_manager/core/report_rules.h"

namespace league::league_manager {

/// What the receipts of one player are checked against.
struct ReceiptFacts {
  const game::Definition& rules;
  std::string league_key;
  std::string draw_commitment;
  int attempt = 1;
  std::string player_id;
  std::string opponent_id;
  std::vector<std::string> keys;  ///< every receipt key that the seat has had since the assignment
  /// What the player says that it was asked and answered; null: it has not been asked.
  const PlayerRecord* record = nullptr;
};

/// What the manager finds of one player's receipts.
struct CheckedReceipts {
  events::PlayerReceipts receipts;
  /// A receipt in the report fits other contents than the report states, so the referee or the
  /// player lies: what it says, for people. Nothing: there is no such receipt.
  std::optional<std::string> contradiction = std::nullopt;
  /// The report says that the player declined, and its receipt says so, too.
  bool proves_decline = false;
};

/// Checks the receipts of a player that declared them. The report needs the receipt of the
/// GAME_JOIN_ACK if it lists a choice or a commitment of the player or was played to its end, and
/// the receipt of the choice for each listed choice. Where one is missing or fits nothing, a valid
/// one in the player's record is taken instead. A receipt of the report that fits other contents of
/// the same match, attempt and play is a contradiction; those in a record prove nothing against a
/// referee, since the player can make any receipt at any time. Pure. Source: protocol §7, item 8.
[[nodiscard]] CheckedReceipts check_receipts(const MatchReport& report, const ReceiptFacts& facts);

/// The fairness of a match of which these are the receipts: at most `claimed` where a player that
/// declared receipts has no valid ones.
[[nodiscard]] game::Fairness fairness_with(game::Fairness fairness,
                                           const game::PerSide<events::PlayerReceipts>& receipts);

}  // namespace league::league_manager
