#pragma once

#include "common/envelope/envelope.h"
#include "common/envelope/game_messages.h"
#include "player/history.h"

namespace league::player {

/// What player `self` remembers of a match when it is told GAME_OVER; `league` where the message
/// does not name its league.
[[nodiscard]] PlayedMatch played_match(const envelope::Envelope& envelope,
                                       const envelope::GameOver& message,
                                       const core::PlayerId& self, const core::LeagueId& league);

}  // namespace league::player
