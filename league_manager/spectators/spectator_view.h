#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "league_manager/files/league_book.h"
#include "league_manager/spectators/match_timelines.h"

namespace league::league_manager {

/// Matches that a view holds at most, by whole rounds and at least two of those; the last ones.
inline constexpr std::size_t kMostMatchesShown = 20'000;

/// The parts of a league to show.
struct ViewParts {
  bool is_whole = false;  ///< a snapshot: everything, whatever the others say
  std::set<MatchKey> matches = {};
  bool has_agents = false;  ///< players and referees
  std::string registrations = {};  ///< JSON; empty: they have not changed
  std::string log = "[]";  ///< what the feed is to show: JSON
};

/// These parts of the league as strangers may see them, as a JSON object; docs/live_page.md says
/// what is in it. No address, token, e-mail address or seed is, and no choice of a match that is
/// not finished. `book` must be open.
[[nodiscard]] std::string league_view(const LeagueBook& book, const MatchTimelines& timelines,
                                      const ViewParts& parts, core::UtcTimestamp now);

/// One match with all that makes its result checkable, as a JSON object; empty for one that is not
/// of a round that has started.
[[nodiscard]] std::string match_view(const LeagueBook& book, const MatchTimelines& timelines,
                                     MatchKey match);

}  // namespace league::league_manager
