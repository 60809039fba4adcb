#include "league_manager/rounds/league_runner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/agent/runtime/exception_guard.h"
#include "league_manager/rounds/league_view.h"

namespace league::league_manager::rounds {

using std::chrono::milliseconds;

LeagueRunner::LeagueRunner(RoundDependencies dependencies)
    : deps_(std::move(dependencies)),
      announcer_(deps_),
      starter_(deps_.peers, deps_.envelopes,
               deps_.settings.time_limit(envelope::MessageType::kRoundAnnouncement)),
      inquiry_(deps_),
      tasks_(deps_.executor, agent::runtime::failures_logged("running the league")) {}

ReportHearing LeagueRunner::hearing() const {
  return {.receipt_key = [&issuer = deps_.token_issuer](
                             const std::string& id,
                             const std::string& nonce) { return issuer.receipt_key(id, nonce); },
          .answers = std::nullopt,
          .join_limit = deps_.settings.time_limit(envelope::MessageType::kGameInvitation),
          .choice_limit = deps_.settings.time_limit(envelope::MessageType::kChooseParityCall),
          .since_seat_call = [calls = deps_.seat_calls, now = deps_.clock.steady_now()](
                                 const SeatedCall& call) -> std::optional<milliseconds> {
            const auto first = calls != nullptr ? calls->first(call) : std::nullopt;
            if (!first) return std::nullopt;
            return std::chrono::duration_cast<milliseconds>(now - *first);
          }};
}

void LeagueRunner::start(milliseconds registration_window) {
  tasks_.spawn(tick());
  tasks_.spawn(watch_referees());
  if (registration_window.count() > 0) tasks_.spawn(close_registration(registration_window));
  if (deps_.ledger.is_continued()) {
    tasks_.spawn(resume());
  } else {
    advance();
  }
}

void LeagueRunner::stop() {
  is_stopped_ = true;
  announcer_.stop();
  tasks_.stop();
}

task::Task<core::Result<events::Events>> LeagueRunner::commit(files::Ledger::Decide decision) {
  return task::called_back<core::Result<events::Events>>(
      [this, decision = std::move(decision)](auto then) {
        deps_.ledger.commit(decision, std::move(then));
      });
}

LeagueRunner::Task LeagueRunner::decide(files::Ledger::Decide decision) {
  auto events = co_await commit(std::move(decision));
  if (!events || events->empty()) co_return;
  on_events(std::move(*events));
  advance();
}

LeagueRunner::Task LeagueRunner::resume() {
  const auto events = co_await commit(
      [](const League& league, core::UtcTimestamp now) { return league.decide_continuation(now); });
  if (!events) co_return;  // the journal has failed and reports that to the program itself
  auto [undelivered, state] = deps_.ledger.read([](const League& league) {
    return std::pair(league.undelivered_notifications(), league.state());
  });
  if (auto round = undelivered.completed_round)
    tasks_.spawn(note_told(events::NotificationKind::kRoundCompleted, *round,
                           announcer_.round_completed(*round)));
  std::vector<events::MatchAssigned> assigned;
  for (const auto& event : *events) {
    if (const auto* one = std::get_if<events::MatchAssigned>(&event.body)) assigned.push_back(*one);
  }
  tasks_.spawn(announce_and_assign(undelivered.announced_round, std::move(assigned)));
  if (undelivered.is_league_completed) {
    tasks_.spawn(finish_league());
  } else if (state == LeagueState::kCompleted) {
    say_finished();
  }
  advance();
}

LeagueRunner::Task LeagueRunner::take_steps() {
  std::vector<events::Events> taken;
  for (events::Events step = take_step(); !step.empty(); step = take_step())
    taken.push_back(std::move(step));
  if (taken.empty()) {
    tell_what_is_missing();
    co_return;
  }
  // An empty commit completes when everything before it is durable: the end of a round and the
  // start of the next one need only one wait for the journal.
  const auto stored =
      co_await commit([](const League&, core::UtcTimestamp) { return events::Events{}; });
  if (!stored) co_return;
  for (auto& step : taken) on_events(std::move(step));
}

events::Events LeagueRunner::take_step() {
  if (is_stopped_) return {};
  auto [step, seeds] = deps_.ledger.read([this](const League& league) {
    return std::pair(is_late_start_due(league) ? Step::kStartLeague : league.due(),
                     league.seeds_needed());
  });
  if (step == Step::kNone || unanswered_ > 0) return {};
  if (step == Step::kStartLeague && !is_start_due_) {
    if (!std::exchange(is_start_scheduled_, true)) tasks_.spawn(start_soon());
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

LeagueRunner::Task LeagueRunner::carry_out(events::Events events) {
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
      tasks_.spawn(note_told(events::NotificationKind::kRoundCompleted, round->round,
                             announcer_.round_completed(round->round)));
    if (std::holds_alternative<events::LeagueCompleted>(event.body)) tasks_.spawn(finish_league());
    if (const auto* moved = std::get_if<events::AgentReregistered>(&event.body))
      tell_referee_of(moved->agent);
    if (const auto* change = std::get_if<events::AgentStateChanged>(&event.body))
      announcer_.tell_state(*change);
    if (const auto* reported = std::get_if<events::MatchReported>(&event.body))
      tell_receipts(*reported);
  }
  co_await announce_and_assign(started, std::move(assigned));
}

LeagueRunner::Task LeagueRunner::announce_and_assign(std::optional<int> round,
                                                     std::vector<events::MatchAssigned> assigned) {
  if (round) {
    // Players get the announcement before their referees call them; a slow player delays the round
    // only by announcement_grace.
    const auto told = announcer_.announce_round(*round);
    tasks_.spawn(note_told(events::NotificationKind::kRoundAnnounced, *round, told));
    co_await announcer_.wait_a_while(told);
  }
  std::map<int, Matches> by_referee;
  for (const auto& one : assigned) by_referee[one.referee].push_back(one.match);
  for (auto& [referee, matches] : by_referee) tasks_.spawn(assign(referee, std::move(matches)));
}

void LeagueRunner::tell_receipts(const events::MatchReported& reported) {
  if (!reported.receipts) return;
  const auto [pairing, can_pass_on] = deps_.ledger.read([&](const League& league) {
    const auto& referee = league.roster().agent(events::AgentRef::referee(reported.referee));
    return std::pair(league.schedule().pairing(reported.match), referee.profile.match_credentials);
  });
  for (game::Side side : game::kBothSides) {
    const events::ReceiptState state = (*reported.receipts)[side].state;
    const bool is_missing = state == events::ReceiptState::kAbsent && can_pass_on;
    if (!is_missing && state != events::ReceiptState::kInvalid) continue;
    announcer_.tell_receipts(events::AgentRef::player(pairing.player(side)), reported.match, state);
  }
}

LeagueRunner::Task LeagueRunner::note_told(events::NotificationKind kind, int round, Told told) {
  if (!told) co_return;
  co_await told->open.wait();
  note_delivered(kind, round, std::move(told->heads));
}

void LeagueRunner::note_delivered(events::NotificationKind kind, int round, LogHeads heads) {
  deps_.ledger.commit(
      [kind, round, heads = std::move(heads)](const League& league, core::UtcTimestamp now) {
        auto events = league.decide_log_heads(round, heads, now);
        auto delivered = league.decide_delivered(kind, round, now);
        std::ranges::move(delivered, std::back_inserter(events));
        return events;
      },
      [](const core::Result<events::Events>&) {});
}

LeagueRunner::Task LeagueRunner::finish_league() {
  const int last = deps_.ledger.read([](const League& league) { return league.board().round(); });
  LogHeads heads;
  if (const auto told = announcer_.league_completed()) {
    // A peer that never answers must not keep the others waiting for the end.
    (void)co_await told->open.wait_for(
        deps_.timer, deps_.settings.time_limit(envelope::MessageType::kLeagueCompleted));
    heads = told->heads;
  }
  // A manager that is stopped before publishes them when it continues the league.
  if (deps_.publish_receipt_keys) deps_.publish_receipt_keys();
  note_delivered(events::NotificationKind::kLeagueCompleted, last, std::move(heads));
  say_finished();
}

void LeagueRunner::say_finished() {
  if (const auto finished = std::exchange(on_finished_, nullptr)) finished();
}

void LeagueRunner::tell_registration(agent::peers::Peer player, const envelope::Envelope& envelope,
                                     std::string answer, std::function<void()> then) {
  constexpr std::chrono::seconds kPatience{3};
  deps_.peers.call(
      agent::peers::call_with(std::move(player), envelope, std::move(answer), kPatience),
      [then = std::move(then)](const agent::peers::PeerReply& /*reply*/) { then(); });
}

}  // namespace league::league_manager::rounds
