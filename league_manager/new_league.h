#pragma once

#include "league_manager/program.h"

namespace league::league_manager {

/// The settings of a new league, from the options and the limits of its manager. Pure, but for the
/// year in the league's name.
[[nodiscard]] LeagueSettings league_settings(const ProgramOptions& options,
                                             const agent::Settings& limits,
                                             const core::Clock& clock);

}  // namespace league::league_manager
