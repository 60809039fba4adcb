#include <algorithm>

#include "league_manager/rounds/league_runner.h"

// How LeagueRunner notices a referee that acknowledges its matches and plays none of them.
namespace league::league_manager::rounds {
namespace {

/// Whether `referee` still has `match` in `attempt`.
bool is_open(const League& league, int referee, events::MatchKey match, int attempt) {
  if (!league.board().contains(match)) return false;
  const MatchSlot& slot = league.board().slot(match);
  return slot.status == MatchStatus::kAssigned && slot.attempts == attempt &&
         slot.referee() == referee;
}

/// Whether the player has been called in this attempt. Third-party referees do not say which
/// attempt a call belongs to.
bool was_called(const PlayerAnswer& answer, int attempt) {
  return answer.record &&
         std::ranges::any_of(answer.record->calls, [attempt](const PlayerCall& call) {
           return call.attempt == attempt || call.attempt == 0;
         });
}

}  // namespace

void LeagueRunner::watch_start(int referee, events::MatchKey match, bool is_last_way) {
  const int attempt = deps_.ledger.read([&](const League& league) {
    const events::AgentRef agent = events::AgentRef::referee(referee);
    const bool is_ours = league.roster().agent(agent).profile.match_credentials;
    return is_ours || !league.board().contains(match) ? 0 : league.board().slot(match).attempts;
  });
  if (attempt == 0) return;
  deps_.timer.schedule(deps_.settings.league.start_watchdog,
                       [this, referee, match, attempt, is_last_way] {
                         check_start(referee, match, attempt, is_last_way);
                       });
}

void LeagueRunner::check_start(int referee, events::MatchKey match, int attempt, bool is_last_way) {
  if (is_stopped_) return;
  {
    std::lock_guard lock(mutex_);
    if (has_polled_lately(referee)) return;  // it takes its matches when it is ready
  }
  std::vector<int> witnesses;
  const bool is_waiting = deps_.ledger.read([&](const League& league) {
    if (!is_open(league, referee, match, attempt)) return false;
    const Pairing pairing = league.schedule().pairing(match);
    for (int player : {pairing.player_a, pairing.player_b}) {
      if (league.roster().agent(events::AgentRef::player(player)).profile.receipts)
        witnesses.push_back(player);
    }
    return true;
  });
  if (!is_waiting) return;
  // Only players that declare receipts can say whether they have been called.
  inquiry_.ask_early(
      match, witnesses,
      [this, referee, match, attempt,
       is_last_way](const std::optional<std::vector<PlayerAnswer>>& answers) {
        if (is_stopped_ || !answers) return;
        const bool has_begun = std::ranges::any_of(
            *answers, [attempt](const auto& answer) { return was_called(answer, attempt); });
        const bool is_still_open = deps_.ledger.read(
            [&](const League& league) { return is_open(league, referee, match, attempt); });
        if (!has_begun && is_still_open) on_idle(referee, match, is_last_way);
      });
}

void LeagueRunner::on_idle(int referee, events::MatchKey match, bool is_last_way) {
  const events::AgentRef agent = events::AgentRef::referee(referee);
  if (deps_.log != nullptr) deps_.log->not_started(agent, match, is_last_way);
  if (is_last_way) {
    return decide([match, referee](const League& league, core::UtcTimestamp now) {
      return league.decide_assignment_refused(match, referee, now);
    });
  }
  const auto endpoint = deps_.ledger.read([agent](const League& league) {
    return transport::link::parse_endpoint(league.roster().agent(agent).profile.endpoint);
  });
  if (endpoint) starter_.doubt(*endpoint);
  deliver_otherwise(referee, {match}, 1, true);
}

}  // namespace league::league_manager::rounds
