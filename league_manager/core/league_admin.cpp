// What the operator does to a league and its agents, and what agents do to themselves: protocol §6,
// "Agent states", and §12.
#include "common/core/text.h"
#include "league_manager/core/league.h"

namespace league::league_manager {

namespace {

using core::Error;
using core::ErrorCode;

constexpr std::size_t kLongestDetail = 300;
constexpr std::size_t kLongestOperatorName = 80;
constexpr int kLongestExtension = 7 * 24 * 3600;  // seconds

Error not_now(events::AgentRef agent, const std::string& why) {
  return {ErrorCode::kInvalidFieldValue, agent.id() + " " + why, "/agent_id"};
}

Error not_now(const std::string& why) { return {ErrorCode::kInvalidFieldValue, why, ""}; }

std::optional<std::string> bounded(std::string_view text, std::size_t most = kLongestDetail) {
  if (text.empty()) return std::nullopt;
  return core::shown(text, most);
}

/// The name under which the command is recorded; a caller cannot use the manager's own name.
std::string author(const OperatorCommand& command) {
  auto by = bounded(command.by, kLongestOperatorName);
  return by && *by != events::kByManager ? *by : "operator";
}

}  // namespace

core::Result<events::Events> League::decide_shut_down(events::AgentRef agent,
                                                      std::string_view reason,
                                                      std::string_view detail,
                                                      core::UtcTimestamp now,
                                                      std::string_view by) const {
  if (state_ == LeagueState::kCompleted)
    return not_now(agent, "cannot be shut down any more: the league is completed");
  if (roster_.agent(agent).lifecycle.state() == events::AgentState::kShutdown)
    return not_now(agent, "is already shut down");
  Draft draft(running(), now);
  draft.add(events::AgentStateChanged{agent, events::AgentState::kShutdown, std::string(reason),
                                      bounded(detail), bounded(by, kLongestOperatorName)});
  if (state_ == LeagueState::kRegistering) return std::move(draft).take();  // frees the seat
  if (agent.kind == events::AgentKind::kReferee) release_all(draft, agent.index, reason);
  deal_matches(draft);
  return std::move(draft).take();
}

bool League::is_seated(events::AgentRef agent) const {
  return roster_.contains(agent) && !roster_.agent(agent).is_free;
}

bool League::frees_seat(const events::AgentStateChanged& event) const {
  return state_ == LeagueState::kRegistering && event.to == events::AgentState::kShutdown;
}

core::Result<events::Events> League::decide_restore(events::AgentRef agent, std::string_view detail,
                                                    core::UtcTimestamp now,
                                                    std::string_view by) const {
  if (state_ != LeagueState::kRunning)
    return not_now(agent, "can be restored only while the league is running");
  const events::AgentState state = roster_.agent(agent).lifecycle.state();
  if (state != events::AgentState::kShutdown && state != events::AgentState::kSuspended)
    return not_now(agent, "is neither shut down nor suspended");
  Draft draft(running(), now);
  draft.add(events::AgentStateChanged{agent, events::AgentState::kActive,
                                      std::string(events::kReasonRestored), bounded(detail),
                                      bounded(by, kLongestOperatorName)});
  deal_matches(draft);
  return std::move(draft).take();
}

core::Result<void> League::check_act(const OperatorCommand& command) const {
  if (state_ == LeagueState::kCompleted) {
    return not_now(
        "the league is completed and its result has been announced, so it cannot be changed. To "
        "review a league before it ends, pause it");
  }
  const bool is_running = state_ == LeagueState::kRunning;
  switch (command.act) {
    case events::OperatorAct::kPause:
      if (is_paused_ && !is_draining_) return not_now("the league is already paused");
      return {};
    case events::OperatorAct::kResume:
      if (!is_paused_) return not_now("the league is not paused");
      return {};
    case events::OperatorAct::kExtendRound:
      if (!is_running || !is_round_open_) return not_now("no round is being played");
      if (command.seconds < 1 || command.seconds > kLongestExtension) {
        return Error{ErrorCode::kInvalidFieldValue,
                     "seconds must be between 1 and " + std::to_string(kLongestExtension),
                     "/seconds"};
      }
      return {};
    case events::OperatorAct::kAnnounce:
      if (command.reason.empty())
        return Error{ErrorCode::kMissingRequiredField, "an announcement needs a text", "/text"};
      return {};
    case events::OperatorAct::kVoidMatch:
      return check_void(command);
    case events::OperatorAct::kEndLeague:
      if (!is_running) return not_now("the league has not started: stop its manager instead");
      if (is_ended_) return not_now("the league is already being ended");
      return {};
  }
  return {};
}

core::Result<void> League::check_void(const OperatorCommand& command) const {
  auto refuse = [](ErrorCode code, const std::string& why) {
    return Error{code, why, "/match_id"};
  };
  if (!command.match)
    return refuse(ErrorCode::kMissingRequiredField,
                  "match_id is missing: send the id of the match, such as R1M2");
  const std::string id = command.match->id().str();
  if (!schedule_.contains(*command.match))
    return refuse(ErrorCode::kMatchNotFound, id + " is not in the schedule of this league");
  if (command.reason.empty())
    return Error{ErrorCode::kMissingRequiredField,
                 "reason is missing: say why " + id + " is void, for those who read the audit",
                 "/reason"};
  const auto result = finished_result(*command.match);
  if (!result) {
    return refuse(ErrorCode::kMatchNotOpen,
                  id + " has no result yet: only a finished match can be voided");
  }
  if (result->is_voided) return refuse(ErrorCode::kInvalidFieldValue, id + " is already void");
  if (command.replays && is_ended_)
    return refuse(ErrorCode::kInvalidFieldValue,
                  "the league is being ended: no match can be replayed");
  return {};
}

core::Result<events::Events> League::decide_act(const OperatorCommand& command,
                                                core::UtcTimestamp now) const {
  if (auto possible = check_act(command); !possible) return possible.error();
  events::OperatorActed acted{
      .act = command.act, .by = author(command), .reason = bounded(command.reason).value_or("")};
  if (command.act == events::OperatorAct::kExtendRound) acted.seconds = command.seconds;
  if (command.act == events::OperatorAct::kVoidMatch) {
    acted.match = command.match;
    if (command.replays) acted.replay = schedule_.next_replay(*command.match, board_.round());
  }
  Draft draft(running(), now);
  draft.add(std::move(acted));
  if (command.act == events::OperatorAct::kEndLeague) {
    release_excused(draft, events::kReasonLeagueEnded);
    // A paused league has to be resumed, or it would never complete.
    if (is_paused_) {
      draft.add(events::OperatorActed{
          .act = events::OperatorAct::kResume, .by = author(command), .reason = "the league ends"});
    }
  } else if (command.act == events::OperatorAct::kResume && is_round_open_ && !is_ended_) {
    deal_matches(draft);
  }
  return std::move(draft).take();
}

bool League::fits_act(const events::OperatorActed& event) const {
  if (!is_created_ || state_ == LeagueState::kCompleted) return false;
  if (event.act == events::OperatorAct::kExtendRound)
    return is_round_open_ && event.seconds && *event.seconds > 0 &&
           *event.seconds <= kLongestExtension;
  if (event.act == events::OperatorAct::kEndLeague) return state_ == LeagueState::kRunning;
  if (event.act != events::OperatorAct::kVoidMatch) return true;
  if (!event.match || !schedule_.contains(*event.match)) return false;
  const auto result = finished_result(*event.match);
  return result && !result->is_voided &&
         (!event.replay || *event.replay == schedule_.next_replay(*event.match, board_.round()));
}

void League::act(const events::OperatorActed& event) {
  if (event.act == events::OperatorAct::kPause) {
    is_paused_ = true;
    pause_reason_ = event.reason;
    is_draining_ = event.by == events::kByManager;
  } else if (event.act == events::OperatorAct::kResume) {
    is_paused_ = is_draining_ = false;
  }
  if (event.act == events::OperatorAct::kEndLeague) is_ended_ = true;
  if (event.act != events::OperatorAct::kVoidMatch) return;
  const events::MatchKey match = *event.match;
  const auto result = *finished_result(match);
  const Pairing players = schedule_.pairing(match);
  standings_.withdraw(players.player_a, players.player_b, result);
  finished_.discount(result);
  const auto round = static_cast<std::size_t>(match.round - 1);
  if (round < results_.size())
    results_[round][static_cast<std::size_t>(match.number - 1)].is_voided = true;
  if (event.replay) schedule_.add_replay(match, board_.round());
  voided_.emplace(match, event.replay);
}

}  // namespace league::league_manager
