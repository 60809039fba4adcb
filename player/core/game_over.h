#pragma once

#include <optional>

#include "common/envelope/envelope.h"
#include "common/envelope/game_messages.h"
#include "game/definition.h"
#include "player/core/history.h"
#include "player/core/open_match.h"

namespace league::player {

/// What player `self` remembers of a match after GAME_OVER. `league` is used if the message does
/// not name its league.
[[nodiscard]] PlayedMatch played_match(const envelope::Envelope& envelope,
                                       const envelope::GameOver& message,
                                       const core::PlayerId& self, const core::LeagueId& league);

/// What a player itself knows about a match when GAME_OVER arrives.
struct KnownMatch {
  OpenMatch notes;
  /// False for a match that was only announced: what the player chose is not known then.
  bool was_invited = false;
  /// The commitment that the seed must match: from the announcement, otherwise from the invitation
  /// or the call; nothing: the referee has not committed to a seed.
  std::optional<std::string> draw_commitment = std::nullopt;
  /// The announcement names a third-party referee, which need not reveal the seed.
  bool may_be_unproven = false;
  /// The player is a guest of a third-party manager, whose league may have other rules: then only
  /// what the player itself chose is compared.
  bool is_guest = false;
};

/// What is wrong with GAME_OVER: kCommitmentMismatch if choices or commitments differ from the
/// notes, kInvalidResult if the result does not follow from them; with the field. Nothing if all is
/// correct. Source: protocol §7, "The player checks GAME_OVER".
[[nodiscard]] std::optional<core::Error> check_game_over(const game::Definition& rules,
                                                         const KnownMatch& known,
                                                         const envelope::GameOver& message);

}  // namespace league::player
