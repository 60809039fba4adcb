#include "league_manager/core/league.h"

#include "common/core/crypto.h"
#include "common/core/enum_names.h"

namespace league::league_manager {

using core::Error;
using core::ErrorCode;

std::string_view league_state_name(LeagueState state) {
  constexpr core::EnumNames<LeagueState, 3> kNames{{"REGISTERING", "RUNNING", "COMPLETED"}};
  return kNames.of(state);
}

League::League(events::LeagueSettings settings) : settings_(std::move(settings)) {}

events::Events League::decide_creation(core::UtcTimestamp now) const {
  auto key = settings_.league_key.empty() ? std::nullopt : std::optional(settings_.league_key);
  return {{now, events::LeagueCreated{settings_.league_id, settings_.rules->game_type(),
                                      settings_.players, settings_.referees, key, key.has_value(),
                                      settings_.meetings, *settings_.rules}}};
}

core::Result<RegistrationDecision> League::decide_register(const RegistrationRequest& request,
                                                           const RegistrationFacts& facts) const {
  const RegistrationScene scene{
      .is_started = state_ != LeagueState::kRegistering,
      .has_open_match = [this](events::AgentRef agent) { return has_open_match(agent); }};
  auto decision = decide_registration(roster_, settings_, scene, request, facts);
  if (!decision || state_ != LeagueState::kRunning) return decision;
  bool is_new_process = has_restarted(request, *decision);
  if (decision->events.empty() && !is_new_process) return decision;
  Draft draft(running(), facts.now);  // a referee that is back takes up work at once
  for (auto& event : decision->events) draft.add(std::move(event.body));
  if (is_new_process) release_all(draft, decision->agent.index, events::kReasonRefereeRestarted);
  deal_matches(draft);
  decision->events = std::move(draft).take();
  return decision;
}

bool League::has_open_match(events::AgentRef player) const {
  if (!is_round_open_ || player.kind != events::AgentKind::kPlayer) return false;
  const auto match = schedule_.match_of(player.index, board_.round());
  return match && board_.contains(*match) && board_.slot(*match).status == MatchStatus::kAssigned;
}

bool League::has_restarted(const RegistrationRequest& request,
                           const RegistrationDecision& decision) const {
  if (request.kind != events::AgentKind::kReferee ||
      decision.recognised_by != events::Recognition::kToken)
    return false;
  // The repeat of a request whose answer was lost has the same nonce.
  return !request.registration_nonce || core::to_hex(core::sha256(*request.registration_nonce)) !=
                                            roster_.agent(decision.agent).registration_nonce_hash;
}

core::Result<events::Events> League::decide_start(core::UtcTimestamp now) const {
  if (state_ != LeagueState::kRegistering) {
    return Error{ErrorCode::kLeagueNotStartable, "the league has already started", ""};
  }
  if (is_paused_) {
    return Error{ErrorCode::kLeagueNotStartable,
                 "the league is paused: it can start once the operator resumes it", ""};
  }
  int players = roster_.taken(events::AgentKind::kPlayer);
  int referees = roster_.taken(events::AgentKind::kReferee);
  if (players < 2 || referees < 1) {
    return Error{ErrorCode::kLeagueNotStartable,
                 "a league needs at least 2 players and 1 referee; registered players: " +
                     std::to_string(players) + ", referees: " + std::to_string(referees),
                 ""};
  }
  return events::Events{{now, events::LeagueStarted{players, referees, kScheduleRule}}};
}

Step League::due() const {
  if (is_paused_) return Step::kNone;
  switch (state_) {
    case LeagueState::kRegistering: {
      bool is_full = roster_.taken(events::AgentKind::kPlayer) >= std::max(settings_.players, 2) &&
                     roster_.taken(events::AgentKind::kReferee) >= std::max(settings_.referees, 1);
      return is_full ? Step::kStartLeague : Step::kNone;
    }
    case LeagueState::kRunning:
      if (is_round_open_)
        return board_.unfinished() == 0 || is_ended_ ? Step::kCompleteRound : Step::kNone;
      return board_.round() < schedule_.rounds() && !is_ended_ ? Step::kStartRound
                                                               : Step::kCompleteLeague;
    case LeagueState::kCompleted:
      break;
  }
  return Step::kNone;
}

std::size_t League::seeds_needed() const {
  return due() == Step::kStartRound
             ? static_cast<std::size_t>(schedule_.matches_in(board_.round() + 1))
             : 0;
}

core::Result<events::Events> League::decide_step(const StepFacts& facts) const {
  switch (due()) {
    case Step::kNone:
      break;
    case Step::kStartLeague:
      return decide_start(facts.now);
    case Step::kStartRound:
      return decide_round_start(facts);
    case Step::kCompleteRound:
      return events::Events{
          {facts.now, events::RoundCompleted{board_.round(), summary_of_board()}}};
    case Step::kCompleteLeague:
      return events::Events{
          {facts.now, events::LeagueCompleted{standings_.table().front().player}}};
  }
  return events::Events{};
}

core::Result<events::Events> League::decide_round_start(const StepFacts& facts) const {
  if (facts.draw_seeds.size() < seeds_needed()) {
    return Error{ErrorCode::kInternalError, "a round needs one draw seed for each of its matches",
                 ""};
  }
  Draft draft(running(), facts.now);
  events::RoundStarted start;
  start.round = board_.round() + 1;
  start.draw_seeds.assign(facts.draw_seeds.begin(),
                          facts.draw_seeds.begin() + static_cast<std::ptrdiff_t>(seeds_needed()));
  std::vector<int> totals;
  totals.reserve(static_cast<std::size_t>(board_.referees()));
  for (int i = 0; i < board_.referees(); ++i) totals.push_back(board_.assigned_total(i));
  start.planned_referees = plan_round(schedule_.matches_in(start.round), draft.places(), totals,
                                      draft.kept_apart(start.round));
  draft.add(std::move(start));
  deal_matches(draft);
  return std::move(draft).take();
}

events::MatchSummary League::summary_of_board() const {
  events::MatchSummary summary;
  for (const auto& result : board_.results()) {
    if (!result.is_voided && !result.is_unplayed) summary.count(result);
  }
  return summary;
}

}  // namespace league::league_manager
