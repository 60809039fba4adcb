#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "league_manager/files/league_book.h"
#include "league_manager/table/figures.h"
#include "league_manager/view/match_timelines.h"

namespace league::league_manager::view {

/// The maximum number of matches in a view. A view contains only whole rounds: the last ones, and
/// always at least two, even if these have more matches.
inline constexpr std::size_t kMostMatchesShown = 20'000;

/// The parts of a league to show.
struct ViewParts {
  bool is_whole = false;  ///< a snapshot: contains everything, whatever the other members say
  std::set<events::MatchKey> matches = {};
  std::optional<int> first_round = {};  ///< with all after it; the last two are always shown
  bool has_agents = false;  ///< players and referees
  bool has_acts = false;  ///< what the operator did
  std::shared_ptr<const table::Figures> figures = {};  ///< null: they have not changed
  std::string registrations = {};  ///< JSON; empty: they have not changed
  std::string log = "[]";  ///< the lines to show, as a JSON array
};

/// The matches in a view of the whole league, in order; pending ones of rounds that have started
/// included.
[[nodiscard]] std::vector<events::MatchKey> shown_matches(const files::LeagueBook& book);

/// These parts of the league as strangers may see them, as a JSON object; spectator_view.cpp
/// describes its rows. It contains no addresses, tokens, e-mail addresses or seeds, and no choices
/// of unfinished matches. `book` must be open.
[[nodiscard]] std::string league_view(const files::LeagueBook& book,
                                      const MatchTimelines& timelines, const ViewParts& parts,
                                      core::UtcTimestamp now);

/// One match with everything that is needed to check its result, as a JSON object; empty if its
/// round has not started. `transcript` is what a referee's log says of it, as a JSON array of rows
/// (time, from, to, message, error code, error); empty: no log was read.
[[nodiscard]] std::string match_view(const files::LeagueBook& book, const MatchTimelines& timelines,
                                     events::MatchKey match, std::string_view transcript = {});

/// What happened to a registered player beside its matches, as a JSON object. `leniencies` is what
/// logs say of it, as a JSON array of rows (name, how often, the agent whose mere word it is or an
/// empty text); empty: no logs were read. `line`: how a player that comes to the manager is
/// connected, and since when; nothing for one that the manager calls.
[[nodiscard]] std::string player_view(
    const files::LeagueBook& book, int player, std::string_view leniencies = {},
    const std::optional<std::pair<std::string, core::UtcTimestamp>>& line = std::nullopt);

}  // namespace league::league_manager::view
