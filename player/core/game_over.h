#pragma once

#include <optional>

#include "common/envelope/envelope.h"
#include "common/envelope/game_messages.h"
#include "game/rules.h"
#include "player/core/history.h"
#include "player/core/open_match.h"

namespace league::player {

/// What player `self` remembers of a match when it is told GAME_OVER; `league` where the message
/// does not name its league.
[[nodiscard]] PlayedMatch played_match(const envelope::Envelope& envelope,
                                       const envelope::GameOver& message,
                                       const core::PlayerId& self, const core::LeagueId& league);

/// What a player knows of a match by itself when it is told the result.
struct KnownMatch {
  OpenMatch notes;
  /// False for a match that was only announced: what the player chose is not known then.
  bool was_invited = false;
  /// What the seed must fit: as announced, else as in invitation or call; nothing where no seed was
  /// promised.
  std::optional<std::string> draw_commitment = std::nullopt;
  /// The announcement names a third-party referee, which need not reveal the seed.
  bool may_be_unproven = false;
};

/// What is wrong about GAME_OVER: kCommitmentMismatch for choices and commitments that are not
/// those of the notes, kInvalidResult for a result that does not follow, with the field. Nothing
/// where all is well. Source: protocol §7, "The player checks GAME_OVER".
[[nodiscard]] std::optional<core::Error> check_game_over(const game::Rules& rules,
                                                         const KnownMatch& known,
                                                         const envelope::GameOver& message);

}  // namespace league::player
