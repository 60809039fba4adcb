#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "league_manager/table/figures.h"
#include "tools/league/up/run_directory.h"
#include "tools/league/up/tournament.h"

namespace league::tools {

/// Adds `figures` to the table, the champion and the progress.
void take_figures(TournamentOutcome& outcome, const league_manager::table::Figures& figures);

/// The JSON object that `league up --json` prints. Keys: docs/settings.md.
[[nodiscard]] nlohmann::ordered_json result_json(const TournamentOutcome& outcome,
                                                 const RunDirectories& directories);

/// Prints the final output of `league up`: table, champion, figures, place of the logs.
void print_result(const TournamentOutcome& outcome, const RunDirectories& directories,
                  std::size_t width, std::ostream& out);

}  // namespace league::tools
