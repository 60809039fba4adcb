#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/league/up/league_progress.h"
#include "tools/league/up/live_view.h"

namespace league::tools {

/// The agents of `get_agents`, one line each under a heading; text from strangers is made safe for
/// a terminal.
[[nodiscard]] std::vector<std::string> agent_lines(const nlohmann::json& agents);

/// The matches of a round, as `league://round/{round}` has them, one line each under a heading;
/// `table` has the players' names.
[[nodiscard]] std::vector<std::string> match_lines(const nlohmann::json& round,
                                                   const std::vector<TableRow>& table);

/// The operator's log from `league://news`, newest first, under a heading.
[[nodiscard]] std::vector<std::string> news_lines(const nlohmann::json& news);

/// The estimated remaining time at the current speed, such as `about 3 min left`; empty if unknown.
[[nodiscard]] std::string time_left(const LeagueProgress& progress, double seconds);

enum class WatchView { kTable, kMatches, kAgents, kNews };

/// The data that `league watch` shows.
struct WatchPicture {
  LeagueProgress progress;
  std::vector<TableRow> table;
  std::vector<std::string> lines;  ///< of every view but the table, with their heading
  double seconds = 0;  ///< since the league began
  std::string trouble = {};  ///< why the other members may be out of date; empty: they are not
};

struct WatchOptions {
  WatchView view = WatchView::kTable;
  int rounds_back = 0;  ///< in the view of matches: how many rounds before the current one
  std::size_t first = 0;  ///< the first visible row
  bool has_colours = false;

  /// Handles a key; false for the key that quits.
  [[nodiscard]] bool obey(char key, const WatchPicture& picture);
};

/// The round whose matches are shown; 0 before the first.
[[nodiscard]] int shown_round(const LeagueProgress& progress, const WatchOptions& options);

/// One frame: not wider than the screen, and lower than it.
[[nodiscard]] std::vector<std::string> watch_lines(const WatchPicture& picture,
                                                   const WatchOptions& options,
                                                   const TerminalSize& screen);

}  // namespace league::tools
