#include "league_manager/core/draft.h"

#include <algorithm>

namespace league::league_manager {

void apply_to_lifecycles(
    const events::Event& event, const Schedule& schedule,
    const std::function<events::AgentLifecycle&(events::AgentRef)>& lifecycle_of) {
  if (const auto* failure = std::get_if<events::FailureCounted>(&event.body)) {
    if (!failure->is_excused) lifecycle_of(failure->agent).count_failure(failure->match);
  } else if (const auto* change = std::get_if<events::AgentStateChanged>(&event.body)) {
    lifecycle_of(change->agent)
        .enter(change->to, event.at, change->reason, change->detail.value_or(std::string()));
  } else if (const auto* report = std::get_if<events::MatchReported>(&event.body)) {
    Pairing pairing = schedule.pairing(report->match);
    const bool played = !report->result.is_technical();
    const auto winner = game::winner_of(report->result.outcome);
    if (played || winner == game::Side::kA)
      lifecycle_of(events::AgentRef::player(pairing.player_a)).count_success();
    if (played || winner == game::Side::kB)
      lifecycle_of(events::AgentRef::player(pairing.player_b)).count_success();
    lifecycle_of(events::AgentRef::referee(report->referee)).count_success();
  }
}

Draft::Draft(RunningLeague league, core::UtcTimestamp now)
    : league_(league), now_(now), board_(league.board) {}

void Draft::add(events::EventBody body) {
  const events::Event& event = events_.emplace_back(events::Event{now_, std::move(body)});
  board_.apply(event);
  if (const auto* acted = std::get_if<events::OperatorActed>(&event.body)) {
    if (acted->act == events::OperatorAct::kPause) league_.is_paused = true;
    if (acted->act == events::OperatorAct::kResume) league_.is_paused = false;
  }
  apply_to_lifecycles(event, league_.schedule,
                      [this](events::AgentRef agent) -> events::AgentLifecycle& {
                        return changed_lifecycle(agent);
                      });
}

const events::AgentLifecycle& Draft::lifecycle(events::AgentRef agent) const {
  for (const auto& [ref, lifecycle] : changed_) {
    if (ref == agent) return lifecycle;
  }
  return league_.roster.agent(agent).lifecycle;
}

bool Draft::is_any_player_shut_down() const {
  return league_.players_shut_down > 0 || std::ranges::any_of(changed_, [](const auto& changed) {
           return changed.first.kind == events::AgentKind::kPlayer &&
                  changed.second.state() == events::AgentState::kShutdown;
         });
}

events::AgentLifecycle& Draft::changed_lifecycle(events::AgentRef agent) {
  for (auto& [ref, lifecycle] : changed_) {
    if (ref == agent) return lifecycle;
  }
  return changed_.emplace_back(agent, league_.roster.agent(agent).lifecycle).second;
}

const events::FailureCounted* Draft::last_failure(events::AgentRef agent) const {
  const events::FailureCounted* last = nullptr;
  for (const auto& event : events_) {
    const auto* failure = std::get_if<events::FailureCounted>(&event.body);
    if (failure != nullptr && failure->agent == agent) last = failure;
  }
  return last;
}

std::vector<RefereePlace> Draft::places() const {
  std::vector<RefereePlace> places;
  auto referees = league_.roster.agents(events::AgentKind::kReferee);
  places.reserve(referees.size());
  for (std::size_t i = 0; i < referees.size(); ++i) {
    bool active = lifecycle(events::AgentRef::referee(static_cast<int>(i))).state() ==
                  events::AgentState::kActive;
    places.push_back({referees[i].profile.max_concurrent_matches, active});
  }
  return places;
}

KeptApart Draft::kept_apart(int round) const {
  if (league_.quarrels.empty()) return {};
  return [this, round](int number, int referee) {
    const Pairing pairing = league_.schedule.pairing({round, number});
    return std::ranges::any_of(game::kBothSides, [&](game::Side side) {
      return league_.quarrels.contains({referee, pairing.player(side)});
    });
  };
}

SlowMatches Draft::slow_matches() const {
  if (league_.roster.people() == 0) return {};
  return [this](events::MatchKey match) {
    return league_.roster.has_people(league_.schedule.pairing(match));
  };
}

namespace {

/// For people: the number of consecutive failed matches, and why the last one failed.
std::string detail_of_failures(const Draft& draft, events::AgentRef agent) {
  const int failed = draft.lifecycle(agent).failed_in_a_row();
  std::string detail = std::to_string(failed) + (failed == 1 ? " match" : " matches in a row") +
                       (agent.kind == events::AgentKind::kPlayer ? " lost through its own failure"
                                                                 : " not finished");
  const events::FailureCounted* last = draft.last_failure(agent);
  if (last == nullptr) return detail;
  if (last->match) detail += (failed == 1 ? ", " : " up to ") + last->match->id().str();
  if (last->match && last->cause) {
    detail += ", that one for " + last->cause->str();
    if (!last->cause->text.empty()) detail += " (" + last->cause->text + ")";
  }
  return detail;
}

}  // namespace

void settle_agent(Draft& draft, events::AgentRef agent) {
  events::LifecycleSettings settings = draft.settings().lifecycle;
  // A match that waits for somebody who has walked away is slow, so one is enough.
  if (draft.roster().agent(agent).profile.has_seat_limits())
    settings.suspend_after_failed_matches = 1;
  auto change = draft.lifecycle(agent).due(settings);
  if (!change) return;
  draft.add(events::AgentStateChanged{agent, change->to, std::string(change->reason),
                                      detail_of_failures(draft, agent)});
  if (agent.kind == events::AgentKind::kReferee) release_all(draft, agent.index, change->reason);
}

void return_to_play(Draft& draft, events::AgentRef player) {
  if (draft.lifecycle(player).state() != events::AgentState::kSuspended) return;
  draft.add(events::AgentStateChanged{player, events::AgentState::kActive,
                                      std::string(events::kReasonPlayed)});
}

void release_all(Draft& draft, int referee, std::string_view reason) {
  if (draft.board().open_count(referee) == 0) return;
  const bool is_excused = draft.roster().agent(events::AgentRef::referee(referee)).is_awaited;
  for (events::MatchKey match : draft.board().open_matches(referee)) {
    draft.add(events::MatchReleased{match, draft.board().slot(match).attempts, std::string(reason),
                                    is_excused});
  }
}

void release_excused(Draft& draft, std::string_view reason) {
  for (events::MatchKey match : draft.board().with_status(MatchStatus::kAssigned)) {
    draft.add(events::MatchReleased{match, draft.board().slot(match).attempts, std::string(reason),
                                    true});
  }
}

namespace {

/// The result of a waiting match that cannot be played any more; nothing if it can.
std::optional<game::MatchResult> verdict_on_waiting(const Draft& draft, events::MatchKey match) {
  Pairing pairing = draft.schedule().pairing(match);
  auto is_shut_down = [&draft](int player) {
    return draft.lifecycle(events::AgentRef::player(player)).state() ==
           events::AgentState::kShutdown;
  };
  bool no_a = is_shut_down(pairing.player_a);
  bool no_b = is_shut_down(pairing.player_b);
  if (no_a && no_b) return game::technical_result(std::nullopt, events::kReasonPlayerShutDown);
  if (no_a) return game::technical_result(game::Side::kB, events::kReasonPlayerShutDown);
  if (no_b) return game::technical_result(game::Side::kA, events::kReasonPlayerShutDown);
  const MatchSlot& slot = draft.board().slot(match);
  int most = std::min(draft.settings().max_attempts, kMostAttempts);
  if (slot.counted_attempts() >= most || slot.attempts >= kMostAssignments)
    return game::technical_result(std::nullopt, events::kReasonNoReferee);
  return std::nullopt;
}

/// True if a player's address is only valid on the referee's machine (stdio, Unix socket): the
/// referee's operator may not allow such calls.
bool may_be_refused(const Draft& draft, events::MatchKey match) {
  Pairing pairing = draft.schedule().pairing(match);
  auto is_on_its_machine = [&draft](int player) {
    const auto& endpoint = draft.roster().agent(events::AgentRef::player(player)).profile.endpoint;
    return endpoint.starts_with("stdio:") || endpoint.starts_with("unix:");
  };
  return is_on_its_machine(pairing.player_a) || is_on_its_machine(pairing.player_b);
}

/// Whether a referee reads its next matches from the answer to a report (protocol §7); others get a
/// ROUND_ANNOUNCEMENT.
bool takes_in_answers(const Draft& draft, int referee) {
  return draft.roster().agent(events::AgentRef::referee(referee)).profile.assignments_in_ack;
}

/// The pending matches for which verdict_on_waiting can return a result. Usually only those that
/// were assigned before: a round can have thousands that were not.
std::vector<events::MatchKey> doubtful_matches(const Draft& draft) {
  return draft.is_any_player_shut_down() ? draft.board().with_status(MatchStatus::kPending)
                                         : draft.board().pending_again();
}

}  // namespace

void deal_matches(Draft& draft, std::optional<events::MatchKey> after) {
  for (events::MatchKey match : doubtful_matches(draft)) {
    if (auto result = verdict_on_waiting(draft, match))
      draft.add(events::MatchForfeited{match, *result});
  }
  if (draft.is_paused()) return;
  int reporter = after ? draft.board().slot(*after).referee() : -1;
  for (const auto& placement :
       next_assignments(draft.board(), draft.places(), draft.kept_apart(draft.board().round()),
                        draft.slow_matches())) {
    int attempt = draft.board().slot(placement.match).attempts + 1;
    // A referee cannot refuse a match that it gets in the answer to a report.
    bool is_answer = placement.referee == reporter && takes_in_answers(draft, reporter) &&
                     !may_be_refused(draft, placement.match);
    draft.add(events::MatchAssigned{placement.match, attempt, placement.referee,
                                    is_answer ? after : std::nullopt});
  }
}

}  // namespace league::league_manager
