#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/league/up/league_progress.h"
#include "tools/league/up/live_view.h"

namespace league::tools {

/// The agents of `get_agents`, one line each under a heading; what strangers wrote is made fit for
/// a terminal.
[[nodiscard]] std::vector<std::string> agent_lines(const nlohmann::json& agents);

/// How long a league that goes on like this still takes, as `about 3 min left`; empty where nobody
/// can say.
[[nodiscard]] std::string time_left(const LeagueProgress& progress, double seconds);

/// What `league watch` shows.
struct WatchPicture {
  LeagueProgress progress;
  std::vector<TableRow> table;
  std::vector<std::string> agents;  ///< lines, with their heading
  double seconds = 0;  ///< since the league began
  std::string trouble = {};  ///< why the rest may be old; empty: it is not
};

struct WatchOptions {
  bool shows_agents = false;  ///< in place of the table
  std::size_t first = 0;  ///< rows that are scrolled past
  bool has_colours = false;
};

/// One frame: never wider than the screen, never as high.
[[nodiscard]] std::vector<std::string> watch_lines(const WatchPicture& picture,
                                                   const WatchOptions& options,
                                                   const Screen& screen);

}  // namespace league::tools
