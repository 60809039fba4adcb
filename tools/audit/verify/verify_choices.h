#pragma once

#include <vector>

#include "game/registry.h"
#include "tools/audit/verify/verify_match.h"

namespace league::tools {

/// The accepted reports against what the players themselves recorded: their choices, and the losses
/// of those that answered.
void check_choices(const LeagueEvidence& evidence, const game::Registry& games, Findings& findings);

/// Says of each disputed match whose word the sealed records support. `findings` already has what
/// all other rules found.
void note_disputes(const LeagueEvidence& evidence, Findings& findings);

}  // namespace league::tools
