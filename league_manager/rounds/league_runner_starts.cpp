#include <algorithm>
#include <span>

#include "common/envelope/codec.h"
#include "league_manager/rounds/league_runner.h"

// How LeagueRunner starts matches at referees of others, and notices one that acknowledges its
// matches and plays none of them.
namespace league::league_manager::rounds {
namespace {

/// Whether `referee` still has `match` in `attempt`.
bool is_open(const League& league, int referee, events::MatchKey match, int attempt) {
  if (!league.board().contains(match)) return false;
  const MatchSlot& slot = league.board().slot(match);
  return slot.status == MatchStatus::kAssigned && slot.attempts == attempt &&
         slot.referee() == referee;
}

/// Whether all other referees are suspended or shut down.
bool is_alone(const League& league, int referee) {
  for (int i = 0; i < league.roster().count(events::AgentKind::kReferee); ++i) {
    const auto state = league.roster().agent(events::AgentRef::referee(i)).lifecycle.state();
    if (i != referee && state != events::AgentState::kSuspended &&
        state != events::AgentState::kShutdown)
      return false;
  }
  return true;
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

void LeagueRunner::start_otherwise(int referee, const Matches& matches, int attempt) {
  for (events::MatchKey match : matches) tasks_.spawn(start_match(referee, match, attempt, false));
}

std::optional<MatchStarter::Order> LeagueRunner::order_of(int referee,
                                                          events::MatchKey match) const {
  const auto assigned = assignments(referee, {match});
  if (assigned.empty()) return std::nullopt;
  auto encoded = envelope::encode_assignments(assigned);
  add_spellings(encoded);
  const std::string id = assigned.front().referee_id.str();
  MatchStarter::Order order{.referee = {},
                            .peer = "referee:" + id,
                            .token = {},
                            .round = match.round,
                            .match = std::move(encoded.front())};
  deps_.ledger.read([&](const League& league) {
    const events::Agent& agent = league.roster().agent(events::AgentRef::referee(referee));
    if (auto endpoint = transport::link::parse_endpoint(agent.profile.endpoint))
      order.referee = std::move(*endpoint);
    order.token = deps_.token_issuer.token(id, agent.credential.nonce);
  });
  return order;
}

LeagueRunner::Task LeagueRunner::start_match(int referee, events::MatchKey match, int attempt,
                                             bool is_last_way) {
  auto order = order_of(referee, match);
  if (!order) co_return;
  const auto error = co_await starter_.start(std::move(*order));
  if (!error) {
    co_await watch_start(referee, match, is_last_way);
    co_return;
  }
  if (error->code == core::ErrorCode::kUnknownMessageType) {
    // No other referee could take the match, so wait and see whether this one polls for it.
    const bool may_poll =
        deps_.ledger.read([referee](const League& league) { return is_alone(league, referee); });
    if (may_poll) co_await task::sleep_for(deps_.timer, kPollingPeriod);
    if (has_polled_lately(referee)) co_return;  // it polls for the match
  }
  const Matches only{match};
  agent::peers::PeerReply reply;
  reply.error = error;
  const auto next =
      co_await next_attempt(referee, only, attempt, agent::runtime::Route::kDirect, reply);
  if (next) co_await deliver(referee, only, *next);
}

LeagueRunner::Task LeagueRunner::watch_start(int referee, events::MatchKey match,
                                             bool is_last_way) {
  const events::AgentRef agent = events::AgentRef::referee(referee);
  const int attempt = deps_.ledger.read([&](const League& league) {
    const bool is_ours = league.roster().agent(agent).profile.match_credentials;
    return is_ours || !league.board().contains(match) ? 0 : league.board().slot(match).attempts;
  });
  if (attempt == 0) co_return;
  co_await task::sleep_for(deps_.timer, deps_.settings.league.start_watchdog);
  if (has_polled_lately(referee)) co_return;  // it takes its matches when it is ready
  const auto has_it = [&](const League& league) {
    return is_open(league, referee, match, attempt);
  };
  if (!deps_.ledger.read(has_it)) co_return;
  const auto answers = co_await inquiry_.ask_early(match, witnesses_of(match));
  if (!answers) co_return;
  const bool has_begun = std::ranges::any_of(
      *answers, [attempt](const auto& answer) { return was_called(answer, attempt); });
  if (has_begun || !deps_.ledger.read(has_it)) co_return;
  if (deps_.log != nullptr) deps_.log->not_started(agent, match, is_last_way);
  if (is_last_way) {
    co_await decide([match, referee](const League& league, core::UtcTimestamp now) {
      return league.decide_assignment_refused(match, referee, now);
    });
    co_return;
  }
  const auto endpoint = deps_.ledger.read([agent](const League& league) {
    return transport::link::parse_endpoint(league.roster().agent(agent).profile.endpoint);
  });
  if (endpoint) starter_.doubt(*endpoint);
  co_await start_match(referee, match, 1, true);
}

std::vector<int> LeagueRunner::witnesses_of(events::MatchKey match) const {
  std::vector<int> witnesses;
  deps_.ledger.read([&](const League& league) {
    const Pairing pairing = league.schedule().pairing(match);
    for (int player : {pairing.player_a, pairing.player_b}) {
      if (league.roster().agent(events::AgentRef::player(player)).profile.receipts)
        witnesses.push_back(player);
    }
  });
  return witnesses;
}

void LeagueRunner::on_registered(const transport::link::Endpoint& endpoint,
                                 agent::dialects::CallStyle style) {
  deps_.peers.on_registered(endpoint, style);
  tasks_.spawn(forget_starts(endpoint));
}

LeagueRunner::Task LeagueRunner::forget_starts(transport::link::Endpoint endpoint) {
  starter_.forget(endpoint);
  co_return;
}

}  // namespace league::league_manager::rounds
