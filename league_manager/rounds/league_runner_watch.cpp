#include "league_manager/rounds/league_runner.h"
#include "league_manager/rounds/league_view.h"

// How LeagueRunner notices that something is due or late: the start, matches, referees, itself.
namespace league::league_manager::rounds {
namespace {

using task::sleep_for;

constexpr std::chrono::milliseconds kTick{1000};

}  // namespace

LeagueRunner::Task LeagueRunner::close_registration(std::chrono::milliseconds window) {
  co_await sleep_for(deps_.timer, window);
  is_registration_closed_ = true;
  is_start_due_ = true;  // every agent has had time to read its answer
  advance();
}

LeagueRunner::Task LeagueRunner::start_soon() {
  co_await sleep_for(deps_.timer, deps_.settings.league.start_delay);
  is_start_due_ = true;
  advance();
}

bool LeagueRunner::is_late_start_due(const League& league) const {
  return is_registration_closed_ && league.state() == LeagueState::kRegistering &&
         league.decide_start({}).has_value();
}

void LeagueRunner::tell_what_is_missing() {
  if (deps_.log == nullptr || !is_registration_closed_) return;
  const std::string missing = deps_.ledger.read([](const League& league) -> std::string {
    auto start = league.decide_start({});
    const bool is_waiting = league.state() == LeagueState::kRegistering && !start;
    return is_waiting ? start.error().message : std::string();
  });
  if (missing == std::exchange(told_missing_, missing) || missing.empty()) return;
  deps_.log->say(true, "CANNOT_START",
                 "the registration window is over and the league cannot start yet: " + missing +
                     "; it starts as soon as they are in");
}

void LeagueRunner::on_alive(events::AgentRef agent, std::string_view reason) {
  tasks_.spawn(decide([agent, reason](const League& league, core::UtcTimestamp now) {
    return league.decide_alive(agent, now, reason);
  }));
}

void LeagueRunner::on_silent(events::AgentRef agent) {
  tasks_.spawn(decide([agent](const League& league, core::UtcTimestamp now) {
    return league.decide_silent(agent, now);
  }));
}

bool LeagueRunner::was_late(core::Clock::Steady from, std::chrono::nanoseconds limit,
                            agent::runtime::Route route) const {
  return deps_.delays != nullptr &&
         core::was_too_late(deps_.delays->worst_since(from, route), limit);
}

std::optional<core::UtcTimestamp> LeagueRunner::late_until() {
  const auto limit =
      deps_.ledger.read([](const League& league) { return league.settings().match_time_limit; });
  const auto steady = deps_.clock.steady_now();
  const auto utc = deps_.clock.utc_now();
  if (auto last = std::exchange(last_tick_, std::pair(steady, utc))) {
    // The delay meter does not see a suspended machine or a changed clock, but the time of day
    // does.
    const bool has_jumped =
        utc > last->second.after(std::chrono::duration_cast<std::chrono::microseconds>(
                  kTick + core::allowed_own_delay(limit)));
    const bool is_late = has_jumped || was_late(last->first, limit, agent::runtime::Route::kBus);
    if (is_late && deps_.log != nullptr) {
      deps_.log->say(
          true, "MANAGER_LATE",
          "the league manager itself was delayed: the limits of open matches start again now");
    }
    if (is_late) late_at_ = utc;
  }
  return late_at_;
}

LeagueRunner::Task LeagueRunner::tick() {
  last_tick_.emplace(deps_.clock.steady_now(), deps_.clock.utc_now());
  while (true) {
    co_await sleep_for(deps_.timer, kTick);
    // Not awaited: a slow journal must not delay the next tick.
    tasks_.spawn(decide([late_at = late_until()](const League& league, core::UtcTimestamp now) {
      return league.decide_tick(now, late_at);
    }));
    advance();
  }
}

LeagueRunner::Task LeagueRunner::watch_referees() {
  while (true) {
    co_await sleep_for(deps_.timer, deps_.settings.league.referee_ping_interval);
    std::vector<std::pair<int, transport::link::Endpoint>> watched;
    deps_.ledger.read([&](const League& league) {
      if (league.state() != LeagueState::kRunning) return;
      for (int i = 0; i < league.roster().count(events::AgentKind::kReferee); ++i) {
        const events::Agent& agent = league.roster().agent(events::AgentRef::referee(i));
        bool suspended = agent.lifecycle.state() == events::AgentState::kSuspended;
        if (!suspended && league.board().open_count(i) == 0) continue;
        if (agent.lifecycle.state() == events::AgentState::kShutdown) continue;
        if (auto endpoint = transport::link::parse_endpoint(agent.profile.endpoint))
          watched.emplace_back(i, std::move(*endpoint));
      }
    });
    for (auto& [referee, endpoint] : watched) {
      if (pinging_.insert(referee).second) tasks_.spawn(ping(referee, std::move(endpoint)));
    }
  }
}

LeagueRunner::Task LeagueRunner::ping(int referee, transport::link::Endpoint endpoint) {
  const events::AgentRef agent = events::AgentRef::referee(referee);
  const auto limit = deps_.settings.league.referee_ping_interval;
  const auto route = agent::runtime::route_to(endpoint);
  const auto sent = deps_.clock.steady_now();
  const bool alive = co_await task::called_back<bool>([&](auto then) {
    deps_.peers.ping(std::move(endpoint), agent.sender(), limit, std::move(then));
  });
  pinging_.erase(referee);
  // A missing answer does not count if this manager may have caused it by its own delay.
  if (!alive && (was_late(sent, limit, route) || has_polled_lately(referee))) co_return;
  int& failed = failed_pings_[referee];
  failed = alive ? 0 : failed + 1;
  if (alive) co_return on_alive(agent);
  if (failed < deps_.settings.league.referee_ping_failures) co_return;
  failed = 0;
  co_await decide([referee](const League& league, core::UtcTimestamp now) {
    return league.decide_referee_lost(referee, now);
  });
}

LeagueRunner::Task LeagueRunner::take_polling(int referee) {
  polling_.insert_or_assign(referee, deps_.clock.steady_now());
  failed_pings_[referee] = 0;
  const events::AgentRef agent = events::AgentRef::referee(referee);
  const bool is_suspended = deps_.ledger.read([agent](const League& league) {
    return league.roster().agent(agent).lifecycle.state() == events::AgentState::kSuspended;
  });
  if (is_suspended) on_alive(agent, events::kReasonHeardAgain);
  co_return;
}

bool LeagueRunner::has_polled_lately(int referee) const {
  const auto found = polling_.find(referee);
  return found != polling_.end() && deps_.clock.steady_now() - found->second <= kPollingPeriod;
}

}  // namespace league::league_manager::rounds
