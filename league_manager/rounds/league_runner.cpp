#include "league_manager/rounds/league_runner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "league_manager/rounds/league_view.h"

namespace league::league_manager::rounds {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kTick{1000};

}  // namespace

LeagueRunner::LeagueRunner(RoundDependencies dependencies)
    : deps_(std::move(dependencies)),
      announcer_(deps_),
      starter_(deps_.peers, deps_.envelopes,
               deps_.settings.time_limit(envelope::MessageType::kRoundAnnouncement)),
      inquiry_(deps_) {}

ReportHearing LeagueRunner::hearing() const {
  return {.receipt_key = [&issuer = deps_.token_issuer](
                             const std::string& id,
                             const std::string& nonce) { return issuer.receipt_key(id, nonce); },
          .answers = std::nullopt,
          .join_limit = deps_.settings.time_limit(envelope::MessageType::kGameInvitation),
          .choice_limit = deps_.settings.time_limit(envelope::MessageType::kChooseParityCall)};
}

void LeagueRunner::start(milliseconds registration_window) {
  last_tick_.emplace(deps_.clock.steady_now(), deps_.clock.utc_now());
  deps_.timer.schedule(kTick, [this] { tick(); });
  deps_.timer.schedule(deps_.settings.league.referee_ping_interval, [this] { watch_referees(); });
  if (registration_window.count() > 0) {
    deps_.timer.schedule(registration_window, [this] { close_registration(); });
  }
  deps_.ledger.is_continued() ? resume() : advance();
}

void LeagueRunner::close_registration() {
  if (is_stopped_) return;
  is_registration_closed_ = true;
  is_start_due_ = true;  // every agent has had time to read its answer
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
  {
    std::lock_guard lock(mutex_);
    if (missing == std::exchange(told_missing_, missing)) return;
  }
  if (missing.empty()) return;
  deps_.log->say(true, "CANNOT_START",
                 "the registration window is over and the league cannot start yet: " + missing +
                     "; it starts as soon as they are in");
}

void LeagueRunner::resume() {
  deps_.ledger.commit(
      [](const League& league, core::UtcTimestamp now) { return league.decide_continuation(now); },
      [this](const core::Result<events::Events>& events) {
        if (!events) return;  // the journal has failed and reports that to the program itself
        resume_with(*events);
        advance();
      });
}

void LeagueRunner::resume_with(const events::Events& events) {
  auto [undelivered, state] = deps_.ledger.read([](const League& league) {
    return std::pair(league.undelivered_notifications(), league.state());
  });
  if (auto round = undelivered.completed_round) {
    announcer_.round_completed(*round, [this, one = *round](const LogHeads& heads) {
      note_delivered(events::NotificationKind::kRoundCompleted, one, heads);
    });
  }
  std::vector<events::MatchAssigned> assigned;
  for (const auto& event : events) {
    if (const auto* one = std::get_if<events::MatchAssigned>(&event.body)) assigned.push_back(*one);
  }
  announce_and_deliver(undelivered.announced_round, std::move(assigned));
  if (undelivered.is_league_completed) return finish_league();
  if (state == LeagueState::kCompleted) say_finished();
}

void LeagueRunner::stop() {
  is_stopped_ = true;
  announcer_.stop();
}

void LeagueRunner::on_finished(std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  on_finished_ = std::move(callback);
}

void LeagueRunner::advance() {
  std::vector<events::Events> taken;
  {
    // One thread takes all due steps, so that their effects are carried out in order.
    std::lock_guard lock(steps_mutex_);
    for (events::Events step = take_step(); !step.empty(); step = take_step())
      taken.push_back(std::move(step));
  }
  if (taken.empty()) return tell_what_is_missing();
  // An empty commit completes when everything before it is durable: the end of a round and the
  // start of the next one need only one wait for the journal.
  deps_.ledger.commit([](const League&, core::UtcTimestamp) { return events::Events{}; },
                      [this, taken = std::move(taken)](const core::Result<events::Events>& stored) {
                        if (!stored) return;
                        for (const auto& step : taken) on_events(step);
                      });
}

events::Events LeagueRunner::take_step() {
  if (is_stopped_) return {};
  auto [step, seeds] = deps_.ledger.read([this](const League& league) {
    return std::pair(is_late_start_due(league) ? Step::kStartLeague : league.due(),
                     league.seeds_needed());
  });
  if (step == Step::kNone || unanswered_ > 0) return {};
  if (step == Step::kStartLeague && !is_start_due_) {
    // The agent that registered last must be able to read its answer before it gets the first call.
    if (is_start_scheduled_.exchange(true)) return {};
    deps_.timer.schedule(deps_.settings.league.start_delay, [this] {
      is_start_due_ = true;
      advance();
    });
    return {};
  }
  if (step == Step::kStartRound && deps_.may_start && !deps_.may_start())
    return {};  // tick() tries again
  StepFacts facts;
  for (std::size_t i = 0; i < seeds; ++i) facts.draw_seeds.push_back(deps_.random.bytes<32>());
  events::Events decided;
  deps_.ledger.commit(
      [&](const League& league, core::UtcTimestamp now) {
        if (unanswered_ > 0) return events::Events{};  // continued once the answer is sent
        facts.now = now;
        auto events =
            is_late_start_due(league) ? league.decide_start(now) : league.decide_step(facts);
        if (events) decided = *events;
        return decided;
      },
      [](const core::Result<events::Events>&) {});
  return decided;
}

void LeagueRunner::on_events(const events::Events& events) {
  if (is_stopped_) return;
  std::vector<events::MatchAssigned> assigned;
  std::optional<int> started;
  for (const auto& event : events) {
    if (const auto* one = std::get_if<events::MatchAssigned>(&event.body)) {
      // The acknowledgement of a report contains the assignments that follow from it.
      if (one->after) note_announced({one->match});
      if (!one->after) assigned.push_back(*one);
    }
    if (const auto* round = std::get_if<events::RoundStarted>(&event.body)) started = round->round;
    if (const auto* round = std::get_if<events::RoundCompleted>(&event.body))
      announcer_.round_completed(round->round, [this, one = round->round](const LogHeads& heads) {
        note_delivered(events::NotificationKind::kRoundCompleted, one, heads);
      });
    if (std::holds_alternative<events::LeagueCompleted>(event.body)) finish_league();
    if (const auto* moved = std::get_if<events::AgentReregistered>(&event.body))
      tell_referee_of(moved->agent);
    if (const auto* change = std::get_if<events::AgentStateChanged>(&event.body))
      announcer_.tell_state(*change);
    if (const auto* reported = std::get_if<events::MatchReported>(&event.body))
      tell_receipts(*reported);
  }
  announce_and_deliver(started, std::move(assigned));
}

void LeagueRunner::tell_receipts(const events::MatchReported& reported) {
  if (!reported.receipts) return;
  const Pairing pairing = deps_.ledger.read(
      [&](const League& league) { return league.schedule().pairing(reported.match); });
  for (game::Side side : game::kBothSides) {
    const events::ReceiptState state = (*reported.receipts)[side].state;
    if (state != events::ReceiptState::kAbsent && state != events::ReceiptState::kInvalid) continue;
    announcer_.tell_receipts(events::AgentRef::player(pairing.player(side)), reported.match, state);
  }
}

void LeagueRunner::announce_and_deliver(std::optional<int> round,
                                        std::vector<events::MatchAssigned> assigned) {
  if (!round) return deliver_grouped(assigned);
  // Players get the announcement before their referees call them; a slow player delays the round
  // only by announcement_grace.
  announcer_.announce_round(
      *round, [this, assigned = std::move(assigned)] { deliver_grouped(assigned); },
      [this, one = *round] { note_delivered(events::NotificationKind::kRoundAnnounced, one); });
}

void LeagueRunner::note_delivered(events::NotificationKind kind, int round, LogHeads heads) {
  if (is_stopped_) return;
  deps_.ledger.commit(
      [kind, round, heads = std::move(heads)](const League& league, core::UtcTimestamp now) {
        auto events = league.decide_log_heads(round, heads, now);
        auto delivered = league.decide_delivered(kind, round, now);
        std::ranges::move(delivered, std::back_inserter(events));
        return events;
      },
      [](const core::Result<events::Events>&) {});
}

void LeagueRunner::finish_league() {
  int last = deps_.ledger.read([](const League& league) { return league.board().round(); });
  announcer_.league_completed([this, last](const LogHeads& heads) {
    // A manager that is stopped before publishes them when it continues the league.
    if (deps_.publish_receipt_keys && !is_stopped_) deps_.publish_receipt_keys();
    note_delivered(events::NotificationKind::kLeagueCompleted, last, heads);
    say_finished();
  });
}

void LeagueRunner::say_finished() {
  std::function<void()> finished;
  {
    std::lock_guard lock(mutex_);
    finished = std::exchange(on_finished_, nullptr);
  }
  if (finished) finished();
}

// --- watching

void LeagueRunner::decide(const files::Ledger::Decide& decision) {
  deps_.ledger.commit(decision, [this](const core::Result<events::Events>& events) {
    if (!events || events->empty()) return;
    on_events(*events);
    advance();
  });
}

void LeagueRunner::on_alive(events::AgentRef agent, std::string_view reason) {
  decide([agent, reason](const League& league, core::UtcTimestamp now) {
    return league.decide_alive(agent, now, reason);
  });
}

void LeagueRunner::on_silent(events::AgentRef agent) {
  decide([agent](const League& league, core::UtcTimestamp now) {
    return league.decide_silent(agent, now);
  });
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
    const bool has_jumped = utc > last->second.after(std::chrono::duration_cast<microseconds>(
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

void LeagueRunner::tick() {
  if (is_stopped_) return;
  decide([late_at = late_until()](const League& league, core::UtcTimestamp now) {
    return league.decide_tick(now, late_at);
  });
  advance();
  deps_.timer.schedule(kTick, [this] { tick(); });
}

void LeagueRunner::watch_referees() {
  if (is_stopped_) return;
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
    {
      std::lock_guard lock(mutex_);
      if (!pinging_.insert(referee).second) continue;
    }
    const auto route = agent::runtime::route_to(endpoint);
    deps_.peers.ping(std::move(endpoint), events::AgentRef::referee(referee).sender(),
                     deps_.settings.league.referee_ping_interval,
                     [this, one = referee, route, sent = deps_.clock.steady_now()](bool alive) {
                       on_referee_ping(one, alive, sent, route);
                     });
  }
  deps_.timer.schedule(deps_.settings.league.referee_ping_interval, [this] { watch_referees(); });
}

void LeagueRunner::on_referee_ping(int referee, bool alive, core::Clock::Steady sent,
                                   agent::runtime::Route route) {
  if (is_stopped_) return;
  // A missing answer does not count if this manager may have caused it by its own delay.
  const bool is_void = !alive && was_late(sent, deps_.settings.league.referee_ping_interval, route);
  bool lost = false;
  {
    std::lock_guard lock(mutex_);
    pinging_.erase(referee);
    if (is_void || (!alive && has_polled_lately(referee))) return;
    int& failed = failed_pings_[referee];
    failed = alive ? 0 : failed + 1;
    lost = failed >= deps_.settings.league.referee_ping_failures;
    if (lost) failed = 0;
  }
  if (alive) {
    on_alive(events::AgentRef::referee(referee));
  } else if (lost) {
    decide([referee](const League& league, core::UtcTimestamp now) {
      return league.decide_referee_lost(referee, now);
    });
  }
}

void LeagueRunner::tell_registration(agent::peers::Peer player, const envelope::Envelope& envelope,
                                     std::string answer, std::function<void()> then) {
  constexpr std::chrono::seconds kPatience{3};
  deps_.peers.call(
      agent::peers::call_with(std::move(player), envelope, std::move(answer), kPatience),
      [then = std::move(then)](const agent::peers::PeerReply& /*reply*/) { then(); });
}

}  // namespace league::league_manager::rounds
