#include <algorithm>

#include "league_manager/core/league.h"
#include "league_manager/core/overloaded.h"
#include "league_manager/events/event_codec.h"

namespace league::league_manager {

core::Result<void> League::apply(const events::Event& event) {
  if (!fits(event.body)) {
    return core::Error{core::ErrorCode::kInternalError,
                       "event " + std::string(event_type(event.body)) + " of " + event.at.to_log() +
                           " does not fit the state of league " + settings_.league_id.str() +
                           ": the journal is damaged or belongs to another league",
                       ""};
  }
  change(event);
  return {};
}

core::Result<void> League::apply_all(const events::Events& events) {
  for (const auto& event : events) {
    if (auto applied = apply(event); !applied) return applied;
  }
  return {};
}

bool League::fits(const events::EventBody& body) const {
  bool running = state_ == LeagueState::kRunning;
  auto is_referee = [this](int index) { return index >= 0 && index < board_.referees(); };
  auto has_status = [&](events::MatchKey match, MatchStatus status) {
    return running && board_.contains(match) && board_.slot(match).status == status;
  };
  return std::visit(
      Overloaded{
          [&](const events::LeagueCreated& e) { return fits_creation(e); },
          [&](const events::AgentRegistered& e) {
            return is_created_ && state_ == LeagueState::kRegistering &&
                   e.agent == roster_.next_seat(e.agent.kind);
          },
          [&](const events::AgentReregistered& e) { return is_seated(e.agent); },
          [&](const events::LeagueStarted& e) { return fits_start(e); },
          [&](const events::RoundStarted& e) { return fits_round(e); },
          [&](const events::MatchAssigned& e) {
            return has_status(e.match, MatchStatus::kPending) && is_referee(e.referee) &&
                   e.attempt <= kMostAssignments && e.attempt == board_.slot(e.match).attempts + 1;
          },
          [&](const events::MatchReleased& e) {
            return has_status(e.match, MatchStatus::kAssigned);
          },
          [&](const events::MatchReported& e) {
            return has_status(e.match, MatchStatus::kAssigned) &&
                   e.referee == board_.slot(e.match).referee();
          },
          [&](const events::MatchForfeited& e) {
            return running && board_.contains(e.match) &&
                   board_.slot(e.match).status != MatchStatus::kFinished;
          },
          [&](const events::ReportConflictRecorded& e) { return schedule_.contains(e.match); },
          [&](const events::StaleReportRecorded& e) { return schedule_.contains(e.match); },
          [&](const events::FailureCounted& e) {
            return roster_.contains(e.agent) &&
                   (!e.cause || !e.match || schedule_.contains(*e.match));
          },
          [&](const events::AgentStateChanged& e) { return is_seated(e.agent); },
          [&](const events::RoundCompleted& e) {
            return running && is_round_open_ && e.round == board_.round() &&
                   (board_.unfinished() == 0 || is_ended_);
          },
          [&](const events::LeagueCompleted& e) {
            return running && due() == Step::kCompleteLeague &&
                   roster_.contains(events::AgentRef::player(e.champion));
          },
          [&](const events::LeagueContinued&) { return is_created_; },
          [&](const events::NotificationDelivered& e) {
            return state_ != LeagueState::kRegistering && e.round <= board_.round();
          },
          [&](const events::MatchDisputed& e) { return fits_dispute(e); },
          [&](const events::OperatorActed& e) { return fits_act(e); },
          [&](const events::PlayersAsked& e) {
            return running && board_.contains(e.match) && is_referee(e.referee);
          },
          [&](const events::LogHeadsRecorded& e) { return fits_heads(e); },
      },
      body);
}

bool League::fits_dispute(const events::MatchDisputed& event) const {
  return schedule_.contains(event.match) &&
         roster_.contains(events::AgentRef::player(event.player)) &&
         !is_disputed_by(event.match, event.player);
}

bool League::fits_heads(const events::LogHeadsRecorded& event) const {
  return std::ranges::all_of(event.heads,
                             [this](const auto& head) { return roster_.contains(head.agent); });
}

bool League::fits_creation(const events::LeagueCreated& event) const {
  const bool is_other = event.league_key && !settings_.league_key.empty() &&
                        *event.league_key != settings_.league_key;
  return !is_created_ && event.league_id == settings_.league_id && !is_other &&
         event.meetings.value_or(1) >= 1 && event.meetings.value_or(1) <= events::kMostMeetings;
}

bool League::fits_start(const events::LeagueStarted& event) const {
  return is_created_ && state_ == LeagueState::kRegistering && event.players >= 2 &&
         event.referees >= 1 && event.players == roster_.taken(events::AgentKind::kPlayer) &&
         event.referees == roster_.taken(events::AgentKind::kReferee) &&
         event.schedule_rule == kScheduleRule;
}

bool League::fits_round(const events::RoundStarted& event) const {
  if (state_ != LeagueState::kRunning || is_round_open_ || event.round != board_.round() + 1 ||
      event.round > schedule_.rounds())
    return false;
  const auto matches = static_cast<std::size_t>(schedule_.matches_in(event.round));
  return event.draw_seeds.size() == matches && event.planned_referees.size() == matches;
}

void League::start(const events::LeagueStarted& event, core::UtcTimestamp at) {
  state_ = LeagueState::kRunning;
  started_at_ = at;
  const std::vector<int> free = roster_.free_seats(events::AgentKind::kPlayer);
  schedule_ = Schedule(event.players, free, meetings_.value_or(1));
  standings_ = Standings(roster_.count(events::AgentKind::kPlayer), free,
                         meetings_ ? DirectMatches::kIfEquallyOften : DirectMatches::kAlways);
  board_ = RoundBoard(roster_.count(events::AgentKind::kReferee), settings_.rules);
  for (auto kind : {events::AgentKind::kPlayer, events::AgentKind::kReferee}) {
    for (int i = 0; i < roster_.count(kind); ++i) {
      if (is_seated({kind, i})) roster_.lifecycle({kind, i}).enter(events::AgentState::kActive, at);
    }
  }
}

void League::change_lifecycles(const events::Event& event) {
  const auto* changed = std::get_if<events::AgentStateChanged>(&event.body);
  auto shut_down = [&] {  // 1 if the agent of this event is a player that is shut down, otherwise 0
    return changed != nullptr && state_ != LeagueState::kRegistering &&
                   changed->agent.kind == events::AgentKind::kPlayer &&
                   roster_.agent(changed->agent).lifecycle.state() == events::AgentState::kShutdown
               ? 1
               : 0;
  };
  players_shut_down_ -= shut_down();
  apply_to_lifecycles(event, schedule_, [this](events::AgentRef agent) -> events::AgentLifecycle& {
    return roster_.lifecycle(agent);
  });
  players_shut_down_ += shut_down();
}

void League::record(events::MatchKey match, const game::MatchResult& result) {
  const Pairing pairing = schedule_.pairing(match);
  const auto counted = events::CompactResult::of(result, *settings_.rules);
  standings_.record(pairing.player_a, pairing.player_b, counted);
  if (result.is_technical()) technical_reasons_[match] = result.technical_reason;
  finished_.count(counted);
}

void League::note_incident(events::MatchKey match) {
  const auto round = static_cast<std::size_t>(match.round - 1);
  if (round >= results_.size()) return;
  auto& result = results_[round][static_cast<std::size_t>(match.number - 1)];
  if (result.incidents < events::kMostIncidents) ++result.incidents;
}

void League::seat_agent(const events::AgentRegistered& event, core::UtcTimestamp at) {
  roster_.add(event.agent,
              {event.profile, event.credential, event.registration_nonce_hash, {}, false});
  roster_.lifecycle(event.agent).enter(events::AgentState::kRegistered, at);
}

void League::return_agent(const events::AgentReregistered& event, core::UtcTimestamp at) {
  // Before the start no match has been played with its keys.
  const auto& nonce = roster_.agent(event.agent).credential.nonce;
  if (state_ != LeagueState::kRegistering && nonce != event.credential.nonce)
    roster_.keep_credential(event.agent, at);
  roster_.update(event);
}

void League::note_suspended(const events::MatchAssigned& event) {
  const Pairing pairing = schedule_.pairing(event.match);
  const auto is_suspended = [this](int player) {
    return roster_.agent(events::AgentRef::player(player)).lifecycle.state() ==
           events::AgentState::kSuspended;
  };
  board_.note_suspended(event.match,
                        {is_suspended(pairing.player_a), is_suspended(pairing.player_b)});
}

void League::note_heads(const events::LogHeadsRecorded& event) {
  // What comes after the end is for the audit: the signed result names the heads up to the entry
  // that completed the league.
  if (state_ == LeagueState::kCompleted) return;
  for (const auto& head : event.heads) log_heads_[head.agent] = head;
}

void League::change(const events::Event& event) {
  // An open round's matches are on the board; those of completed rounds are in `results_`.
  bool is_archived = !is_round_open_;
  if (!is_archived || std::holds_alternative<events::RoundStarted>(event.body)) board_.apply(event);
  const bool had_referee = is_any_referee_active();
  change_lifecycles(event);
  // The limits of a round do not run while no referee could play its matches.
  if (!is_archived && !had_referee && is_any_referee_active()) board_.continue_at(event.at);
  std::visit(Overloaded{
                 [&](const events::LeagueCreated& e) {
                   is_created_ = true;
                   are_files_keyed_ = e.files_keyed;
                   meetings_ = e.meetings;
                 },
                 [&](const events::AgentRegistered& e) { seat_agent(e, event.at); },
                 [&](const events::AgentReregistered& e) { return_agent(e, event.at); },
                 [&](const events::AgentStateChanged& e) {
                   if (frees_seat(e)) roster_.free(e.agent);
                 },
                 [&](const events::LeagueStarted& e) { start(e, event.at); },
                 [&](const events::RoundStarted&) { is_round_open_ = true; },
                 [&](const events::MatchAssigned& e) { note_suspended(e); },
                 [&](const events::PlayersAsked& e) { note_words(e); },
                 [&](const events::MatchReported& e) {
                   note_overruled(e);
                   record(e.match, e.result);
                   roster_.note_heard(events::AgentRef::referee(e.referee));
                   if (e.is_unproven) unproven_.push_back(e.match);
                 },
                 [&](const events::MatchForfeited& e) { record(e.match, e.result); },
                 [&](const events::ReportConflictRecorded& e) { note_incident(e.match); },
                 [&](const events::StaleReportRecorded& e) { note_incident(e.match); },
                 [&](const events::RoundCompleted& e) {
                   is_round_open_ = false;
                   results_.push_back(board_.results());
                   summaries_.push_back(e.summary);
                 },
                 [&](const events::LeagueCompleted& e) {
                   state_ = LeagueState::kCompleted;
                   champion_ = e.champion;
                   completed_at_ = event.at;
                 },
                 [&](const events::LeagueContinued&) { roster_.await_referees(); },
                 [&](const events::NotificationDelivered& e) { note_delivered(e); },
                 [&](const events::MatchDisputed& e) { disputes_[e.match].push_back(e.player); },
                 [&](const events::OperatorActed& e) { act(e); },
                 [&](const events::LogHeadsRecorded& e) { note_heads(e); },
                 [](const auto&) {},
             },
             event.body);
}

}  // namespace league::league_manager
