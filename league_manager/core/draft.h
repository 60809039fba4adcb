#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "league_manager/core/assignment.h"
#include "league_manager/core/roster.h"
#include "league_manager/core/round_board.h"
#include "league_manager/core/schedule.h"
#include "league_manager/events/events.h"
#include "league_manager/events/settings.h"

namespace league::league_manager {

/// How often a player has contradicted a loss that a referee reported, by referee and player.
using Quarrels = std::map<std::pair<int, int>, int>;

/// The parts of a running league that decisions about its matches read. All outlive the Draft.
struct RunningLeague {
  const events::LeagueSettings& settings;
  const Roster& roster;
  const Schedule& schedule;
  const RoundBoard& board;
  int players_shut_down;
  bool is_paused;
  const Quarrels& quarrels;
};

/// A decision that is being made: each added event is applied to a private copy, so that later
/// steps are decided on the state they will find. The league itself is not changed. Not
/// thread-safe.
class Draft {
 public:
  Draft(RunningLeague league, core::UtcTimestamp now);

  void add(events::EventBody body);

  [[nodiscard]] core::UtcTimestamp now() const { return now_; }
  [[nodiscard]] const events::LeagueSettings& settings() const { return league_.settings; }
  [[nodiscard]] const Schedule& schedule() const { return league_.schedule; }
  [[nodiscard]] const RoundBoard& board() const { return board_; }
  [[nodiscard]] const Roster& roster() const { return league_.roster; }
  [[nodiscard]] const events::AgentLifecycle& lifecycle(events::AgentRef agent) const;
  [[nodiscard]] bool is_any_player_shut_down() const;
  [[nodiscard]] bool is_paused() const { return league_.is_paused; }
  /// The last failure of `agent` that this decision counts; null for none.
  [[nodiscard]] const events::FailureCounted* last_failure(events::AgentRef agent) const;
  /// The referees, for assignment.
  [[nodiscard]] std::vector<RefereePlace> places() const;
  /// Which referees should not have which matches of `round`, since one of the players has a
  /// quarrel with them.
  [[nodiscard]] KeptApart kept_apart(int round) const;
  /// The matches in which a person or a chat program plays.
  [[nodiscard]] SlowMatches slow_matches() const;
  /// Moves the events out, in order; the draft must not be used afterwards.
  [[nodiscard]] events::Events take() && { return std::move(events_); }

 private:
  [[nodiscard]] events::AgentLifecycle& changed_lifecycle(events::AgentRef agent);

  RunningLeague league_;
  core::UtcTimestamp now_;
  RoundBoard board_;
  std::vector<std::pair<events::AgentRef, events::AgentLifecycle>> changed_;
  events::Events events_;
};

/// Adds the change of state that is due for `agent`, if any; a referee that may no longer work
/// loses its matches.
void settle_agent(Draft& draft, events::AgentRef agent);

/// A suspended player has played a match without losing it technically: it is ACTIVE again.
void return_to_play(Draft& draft, events::AgentRef player);

/// Takes all matches from `referee`; none of them has used up an attempt by that.
void release_all(Draft& draft, int referee, std::string_view reason);

/// Takes all matches from all referees, because the manager does not know what has become of them.
void release_excused(Draft& draft, std::string_view reason);

/// Handles every waiting match: ends those that cannot be played (a player is shut down, all
/// attempts are used up) and assigns the others as far as there are places and the league is not
/// paused. Assignments to the referee of `after` carry it, see
/// MatchAssigned.
void deal_matches(Draft& draft, std::optional<events::MatchKey> after = std::nullopt);

/// What `event` does to the life cycles of agents, which `lifecycle_of` finds: a failure counts, a
/// change of state takes place, and a report is a success for its referee and for each player that
/// did not lose by a failure.
void apply_to_lifecycles(
    const events::Event& event, const Schedule& schedule,
    const std::function<events::AgentLifecycle&(events::AgentRef)>& lifecycle_of);

}  // namespace league::league_manager
