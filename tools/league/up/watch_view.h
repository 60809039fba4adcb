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

/// The matches of a round, as `league://round/{round}` has them, one line each under a heading;
/// `table` has the players' names.
[[nodiscard]] std::vector<std::string> match_lines(const nlohmann::json& round,
                                                   const std::vector<TableRow>& table);

/// What the operator was told, as `league://news` has it, the last first, under a heading.
[[nodiscard]] std::vector<std::string> news_lines(const nlohmann::json& news);

/// How long a league that goes on like this still takes, as `about 3 min left`; empty where nobody
/// can say.
[[nodiscard]] std::string time_left(const LeagueProgress& progress, double seconds);

enum class WatchView { kTable, kMatches, kAgents, kNews };

/// What `league watch` shows.
struct WatchPicture {
  LeagueProgress progress;
  std::vector<TableRow> table;
  std::vector<std::string> lines;  ///< of every view but the table, with their heading
  double seconds = 0;  ///< since the league began
  std::string trouble = {};  ///< why the rest may be old; empty: it is not
};

struct WatchOptions {
  WatchView view = WatchView::kTable;
  int rounds_back = 0;  ///< of the matches: before the round that is played
  std::size_t first = 0;  ///< rows that are scrolled past
  bool has_colours = false;

  /// Does what a key asks for; false for the key that ends it all.
  [[nodiscard]] bool obey(char key, const WatchPicture& picture);
};

/// The round whose matches are shown; 0 before the first.
[[nodiscard]] int shown_round(const LeagueProgress& progress, const WatchOptions& options);

/// One frame: never wider than the screen, never as high.
[[nodiscard]] std::vector<std::string> watch_lines(const WatchPicture& picture,
                                                   const WatchOptions& options,
                                                   const TerminalSize& screen);

}  // namespace league::tools
