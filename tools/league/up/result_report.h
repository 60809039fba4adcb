#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "tools/league/up/run_directory.h"
#include "tools/league/up/tournament.h"

namespace league::tools {

/// The one object of `league up --json`. Keys: docs/settings.md.
[[nodiscard]] nlohmann::ordered_json result_json(const TournamentOutcome& outcome,
                                                 const RunDirectories& directories);

/// What `league up` says in the end: table, champion, figures, where the logs are.
void print_result(const TournamentOutcome& outcome, const RunDirectories& directories,
                  std::size_t width, std::ostream& out);

}  // namespace league::tools
