#pragma once

#include <vector>

#include "game/registry.h"
#include "tools/audit/verify/verify_match.h"

namespace league::tools::auditor {

/// Checks the accepted reports against the players' own records: the choices, and technical losses
/// of players that did answer.
void check_choices(const LeagueEvidence& evidence, const game::Registry& games, Findings& findings);

/// Adds a note for each disputed match on whose statement the sealed records support. Call it after
/// all other checks, whose results in `findings` it uses.
void note_disputes(const LeagueEvidence& evidence, Findings& findings);

}  // namespace league::tools::auditor
