#pragma once

#include "league_manager/table/figures.h"
#include "tools/league/up/tournament.h"

namespace league::tools {

/// Adds `figures` to the table, the champion and the progress.
void take_figures(TournamentOutcome& outcome, const league_manager::table::Figures& figures);

}  // namespace league::tools
