#include <algorithm>

#include "league_manager/core/league.h"

namespace league::league_manager {

namespace {

/// Handles a match that its referee did not finish in time: counts a failure against the referee
/// and releases the match for another one.
void fail_referee(Draft& draft, events::MatchKey match, std::string_view reason) {
  const MatchSlot& slot = draft.board().slot(match);
  events::AgentRef referee = events::AgentRef::referee(slot.referee());
  int attempt = slot.attempts;
  draft.add(events::FailureCounted{referee, events::FailureKind::kTimeout, match});
  draft.add(events::MatchReleased{match, attempt, std::string(reason), false});
  settle_agent(draft, referee);
}

bool has_round_limit_passed(const Draft& draft, core::UtcTimestamp begun,
                            std::chrono::microseconds limit) {
  return draft.board().unfinished() > 0 && draft.now() >= begun.after(limit);
}

void end_round(Draft& draft) {
  for (int number = 1; number <= draft.board().matches(); ++number) {
    events::MatchKey match{draft.board().round(), number};
    if (draft.board().slot(match).status == MatchStatus::kFinished) continue;
    draft.add(events::MatchForfeited{
        match, game::technical_result(std::nullopt, events::kReasonRoundTimeLimit)});
  }
}

void suspend(Draft& draft, events::AgentRef agent, std::string_view reason) {
  if (draft.lifecycle(agent).state() == events::AgentState::kActive)
    draft.add(
        events::AgentStateChanged{agent, events::AgentState::kSuspended, std::string(reason)});
  if (agent.kind == events::AgentKind::kReferee) release_all(draft, agent.index, reason);
  deal_matches(draft);
}

void settle_all(Draft& draft) {
  for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
    for (int i = 0; i < draft.roster().count(kind); ++i) settle_agent(draft, {kind, i});
  }
}

}  // namespace

events::Events League::decide_alive(events::AgentRef agent, core::UtcTimestamp now,
                                    std::string_view reason) const {
  if (state_ != LeagueState::kRunning || !roster_.contains(agent)) return {};
  const events::AgentLifecycle& lifecycle = roster_.agent(agent).lifecycle;
  if (lifecycle.state() != events::AgentState::kSuspended) return {};
  if (lifecycle.reason() == events::kReasonDraining) return {};  // it is still shutting down
  // Being alive does not end a suspension for failed matches: the player has to play one. A referee
  // gets another chance if no other referee is active.
  const bool has_to_play = lifecycle.reason() == events::kReasonFailedMatches;
  if (has_to_play && (agent.kind == events::AgentKind::kPlayer || is_any_referee_active()))
    return {};
  Draft draft(running(), now);
  draft.add(events::AgentStateChanged{agent, events::AgentState::kActive, std::string(reason)});
  deal_matches(draft);
  return std::move(draft).take();
}

events::Events League::decide_referee_lost(int referee, core::UtcTimestamp now) const {
  events::AgentRef agent = events::AgentRef::referee(referee);
  if (state_ != LeagueState::kRunning || !roster_.contains(agent)) return {};
  Draft draft(running(), now);
  suspend(draft, agent, events::kReasonRefereeLost);
  return std::move(draft).take();
}

events::Events League::decide_referee_drain(int referee, core::UtcTimestamp now) const {
  const events::AgentRef agent = events::AgentRef::referee(referee);
  if (state_ != LeagueState::kRunning || !roster_.contains(agent)) return {};
  const events::AgentLifecycle& lifecycle = roster_.agent(agent).lifecycle;
  if (lifecycle.state() == events::AgentState::kShutdown ||
      lifecycle.reason() == events::kReasonDraining)
    return {};
  Draft draft(running(), now);
  draft.add(events::AgentStateChanged{agent, events::AgentState::kSuspended,
                                      std::string(events::kReasonDraining)});
  deal_matches(draft);
  return std::move(draft).take();
}

events::Events League::decide_silent(events::AgentRef agent, core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRunning || !roster_.contains(agent)) return {};
  if (roster_.agent(agent).lifecycle.state() != events::AgentState::kActive) return {};
  Draft draft(running(), now);
  suspend(draft, agent, events::kReasonSilent);
  return std::move(draft).take();
}

events::Events League::decide_match_refused(events::MatchKey match, core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRunning || !board_.contains(match)) return {};
  const MatchSlot& slot = board_.slot(match);
  if (slot.status != MatchStatus::kAssigned) return {};
  Draft draft(running(), now);
  draft.add(
      events::MatchReleased{match, slot.attempts, std::string(events::kReasonMatchRefused), false});
  deal_matches(draft);
  return std::move(draft).take();
}

events::Events League::decide_assignment_refused(events::MatchKey match, int referee,
                                                 core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRunning || !board_.contains(match)) return {};
  const MatchSlot& slot = board_.slot(match);
  if (slot.status != MatchStatus::kAssigned || slot.referee() != referee) return {};
  Draft draft(running(), now);
  fail_referee(draft, match, events::kReasonRefereeRefused);
  deal_matches(draft);
  return std::move(draft).take();
}

events::Events League::decide_continuation(core::UtcTimestamp now) const {
  if (!is_created_ || state_ == LeagueState::kCompleted) return {};
  if (state_ != LeagueState::kRunning) return {{now, events::LeagueContinued{}}};
  Draft draft(running(), now);
  draft.add(events::LeagueContinued{});
  if (is_draining_) {
    draft.add(events::OperatorActed{.act = events::OperatorAct::kResume,
                                    .by = std::string(events::kByManager),
                                    .reason = "the manager is back"});
  }
  if (is_round_open_) {
    release_excused(draft, events::kReasonManagerRestarted);
    deal_matches(draft);
  }
  return std::move(draft).take();
}

events::Events League::decide_drain(core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRunning || is_paused_ || is_ended_) return {};
  return {{now, events::OperatorActed{.act = events::OperatorAct::kPause,
                                      .by = std::string(events::kByManager),
                                      .reason = "the manager is about to end"}}};
}

events::Events League::decide_delivered(events::NotificationKind kind, int round,
                                        core::UtcTimestamp now) const {
  if (state_ == LeagueState::kRegistering || round > board_.round()) return {};
  bool is_known = kind == events::NotificationKind::kRoundAnnounced   ? round <= announced_round_
                  : kind == events::NotificationKind::kRoundCompleted ? round <= told_round_
                                                                      : is_end_told_;
  if (is_known) return {};
  return {{now, events::NotificationDelivered{kind, round}}};
}

events::Events League::decide_log_heads(int round, const LogHeads& heads,
                                        core::UtcTimestamp now) const {
  events::LogHeadsRecorded recorded{.round = round, .heads = {}};
  for (const auto& [agent, head] : heads) {
    if (roster_.contains(agent)) recorded.heads.push_back(head);
  }
  if (recorded.heads.empty()) return {};
  return {{now, std::move(recorded)}};
}

void League::note_delivered(const events::NotificationDelivered& event) {
  switch (event.kind) {
    case events::NotificationKind::kRoundAnnounced:
      announced_round_ = std::max(announced_round_, event.round);
      break;
    case events::NotificationKind::kRoundCompleted:
      told_round_ = std::max(told_round_, event.round);
      break;
    case events::NotificationKind::kLeagueCompleted:
      is_end_told_ = true;
      break;
  }
}

UndeliveredNotifications League::undelivered_notifications() const {
  UndeliveredNotifications kind;
  if (is_round_open_ && board_.round() > announced_round_) kind.announced_round = board_.round();
  auto completed = static_cast<int>(summaries_.size());
  if (completed > told_round_) kind.completed_round = completed;
  kind.is_league_completed = state_ == LeagueState::kCompleted && !is_end_told_;
  return kind;
}

bool League::is_any_referee_active() const {
  return std::ranges::any_of(roster_.agents(events::AgentKind::kReferee),
                             [](const events::Agent& referee) {
                               return referee.lifecycle.state() == events::AgentState::kActive;
                             });
}

std::chrono::microseconds League::round_limit() const {
  constexpr std::chrono::minutes kForAReferee{5};
  if (settings_.round_time_limit) return *settings_.round_time_limit + board_.extension();
  // Suspended referees count, since they may come back. At least one place is assumed, so that the
  // limit is finite.
  std::int64_t places = 0;
  for (const events::Agent& referee : roster_.agents(events::AgentKind::kReferee)) {
    if (referee.lifecycle.state() != events::AgentState::kShutdown)
      places += referee.profile.max_concurrent_matches;
  }
  places = std::max<std::int64_t>(places, 1);
  const std::int64_t in_turn = (board_.matches() + places - 1) / places;
  const auto of_match =
      roster_.people() > 0 ? settings_.slow_match_time_limit : settings_.match_time_limit;
  return of_match * settings_.max_attempts * in_turn + kForAReferee + board_.extension();
}

events::Events League::decide_tick(core::UtcTimestamp now,
                                   std::optional<core::UtcTimestamp> late_at) const {
  if (state_ != LeagueState::kRunning || !is_round_open_) return {};
  Draft draft(running(), now);
  settle_all(draft);
  auto counted_from = [late_at](core::UtcTimestamp begun) {
    return late_at ? std::max(begun, *late_at) : begun;
  };
  // Without a healthy referee the round waits: its limit begins again when there is one.
  if (!is_paused_ && is_any_referee_active() &&
      has_round_limit_passed(draft, counted_from(draft.board().started_at()), round_limit()))
    end_round(draft);
  for (events::MatchKey match : draft.board().with_status(MatchStatus::kAssigned)) {
    const MatchSlot& slot = draft.board().slot(match);
    // An earlier time-out of this loop may have suspended the referee and released this match as
    // well.
    if (slot.status != MatchStatus::kAssigned) continue;
    const auto limit = roster_.has_people(schedule_.pairing(match))
                           ? settings_.slow_match_time_limit
                           : settings_.match_time_limit;
    if (now >= counted_from(slot.since).after(limit))
      fail_referee(draft, match, events::kReasonMatchTimeLimit);
  }
  deal_matches(draft);
  return std::move(draft).take();
}

}  // namespace league::league_manager
