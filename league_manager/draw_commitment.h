#pragma once

#include <string>

#include "common/core/ids.h"
#include "league_manager/events.h"

namespace league::league_manager {

/// SHA-256 of the seed's 32 bytes and the match id, in hexadecimal: public before any choice
/// exists. Source: protocol §7.
[[nodiscard]] std::string draw_commitment(const DrawSeed& seed, const core::MatchId& match);

}  // namespace league::league_manager
