#include "referee/core/match.h"

#include <algorithm>
#include <utility>

#include "common/core/enum_names.h"

namespace league::referee {

using core::ErrorCode;

namespace {

bool passes_by_itself(ErrorCode code) {
  return core::error_info(code).retryable || code == ErrorCode::kInternalError ||
         code == ErrorCode::kOverloaded || code == ErrorCode::kShuttingDown;
}

}  // namespace

std::string_view seat_state_name(SeatState state) {
  constexpr core::EnumNames<SeatState, 5> kNames{
      {"IDLE", "ASKED", "WAITING_FOR_RETRY", "ANSWERED", "FAILED"}};
  return kNames.of(state);
}

Match::Match(const game::Definition& rules, MatchPlan plan)
    : rules_(rules), plan_(std::move(plan)) {}

Effects Match::start(Instant now) {
  Effects effects;
  if (has_started_ || ending_) return effects;
  has_started_ = true;
  begin_play(now, effects);
  return effects;
}

void Match::begin_play(Instant now, Effects& effects) {
  for (Side side : kBothSides) {
    if (!plan_.seats[side].is_unavailable) continue;
    const core::Error error{ErrorCode::kPlayerUnavailable,
                            "the player had stopped answering and did not answer a ping", ""};
    record(side, error, Duration::zero(), CallPhase::kConnect);
    progress_[side].state = SeatState::kFailed;
    progress_[side].lost_by = Termination::kPlayerUnavailable;
  }
  begin_stage(MatchState::kWaitingForPlayers, now, effects);
  settle(now, effects);
}

Effects Match::on_reply(CallId id, const Reply& reply, Instant now) {
  Effects effects;
  const auto side = take_awaited(id);
  if (!side) return effects;
  if (const auto fault = fault_of(*side, reply)) {
    fail(*side, *fault, now, {}, effects);
  } else {
    accept_reply(*side, reply, now, effects);
  }
  settle(now, effects);
  return effects;
}

Effects Match::on_failure(CallId id, const core::Error& error, Instant now,
                          const CallEvidence& evidence) {
  if (error.code == ErrorCode::kShuttingDown) return abandon();
  Effects effects;
  const auto side = take_awaited(id);
  if (!side) return effects;
  fail(*side, error, now, evidence, effects);
  settle(now, effects);
  return effects;
}

Effects Match::on_timer(TimerId id, Instant now) {
  Effects effects;
  if (ending_ || id == 0) return effects;
  if (id == report_timer_) {
    report_timer_ = 0;
    report(effects);
    return effects;
  }
  if (id == replay_timer_) {
    replay_timer_ = 0;
    begin_play(now, effects);
    return effects;
  }
  for (Side side : kBothSides) {
    if (progress_[side].timer_id != id) continue;
    progress_[side].timer_id = 0;
    begin_attempt(side, now, effects);
  }
  return effects;
}

Effects Match::on_report_accepted() {
  Effects effects;
  if (ending_ || !is_report_awaited_) return effects;
  effects.emplace_back(AnnounceGameOver{*played_});
  finish(Ending::kAccepted, std::nullopt, effects);
  return effects;
}

Effects Match::on_report_failed(const core::Error& error) {
  Effects effects;
  if (ending_ || !is_report_awaited_) return effects;
  is_report_awaited_ = false;
  if (!passes_by_itself(error.code)) {
    finish(Ending::kRefused, error, effects);
  } else if (report_attempts_ >= plan_.settings.max_report_attempts) {
    finish(Ending::kUnreported, error, effects);
  } else {
    const auto& settings = plan_.settings;
    Duration delay = settings.report_retry_delay;
    for (int i = 1; i < report_attempts_ && delay < settings.longest_report_delay; ++i) delay *= 2;
    report_timer_ = ++last_id_;
    effects.emplace_back(StartTimer{report_timer_, std::min(delay, settings.longest_report_delay)});
  }
  return effects;
}

Effects Match::abandon() {
  Effects effects;
  if (!ending_) finish(Ending::kAbandoned, std::nullopt, effects);
  return effects;
}

MatchSnapshot Match::snapshot() const {
  MatchSnapshot view{.match_id = plan_.match_id,
                     .game_type = rules_.game_type(),
                     .state = state_,
                     .players = {{plan_.seats[Side::kA].player, plan_.seats[Side::kB].player}},
                     .seats = {{progress_[Side::kA].state, progress_[Side::kB].state}},
                     .played = std::nullopt};
  // A match whose result was not accepted can be played again, so its choices stay secret.
  if (ending_ == Ending::kAccepted) {
    view.played = played_;
    view.points = game::points_of(rules_, played_->result);
  }
  return view;
}

Call Match::stage_call() const {
  return state_ == MatchState::kWaitingForPlayers ? Call::kInvitation : Call::kChooseParity;
}

void Match::begin_stage(MatchState stage, Instant now, Effects& effects) {
  state_ = stage;
  if (stage == MatchState::kCollectingChoices) {
    bindings_ = {};
    for (Side side : kBothSides) bindings_.commitments[side] = progress_[side].commitment;
  }
  for (Side side : kBothSides) {
    Progress& player = progress_[side];
    if (player.state == SeatState::kFailed) continue;
    player.attempt = player.failed_attempts = player.invalid_answers = 0;
    player.was_wronged = false;
    begin_attempt(side, now, effects);
  }
}

Duration Match::stage_limit(Side side) const {
  const OwnLimits limits = plan_.seats[side].own_limits.value_or(
      OwnLimits{plan_.settings.invitation_limit, plan_.settings.choice_limit});
  return stage_call() == Call::kInvitation ? limits.invitation : limits.choice;
}

void Match::begin_attempt(Side side, Instant now, Effects& effects) {
  Progress& player = progress_[side];
  ++player.attempt;
  player.window_end = now + stage_limit(side);
  ask(side, now, effects);
}

void Match::ask(Side side, Instant now, Effects& effects) {
  Progress& player = progress_[side];
  player.state = SeatState::kAsked;
  player.call_id = ++last_id_;
  player.asked_at = now;
  CallPlayer call{.id = player.call_id,
                  .side = side,
                  .call = stage_call(),
                  .play = replays_,
                  .attempt = player.attempt,
                  .time_limit = player.window_end - now,
                  .deadline = player.window_end};
  if (call.call == Call::kChooseParity) {
    call.opponent_commitment = bindings_.commitments[other(side)];
    call.is_bound = bindings_.commitments[side].has_value();
  }
  effects.emplace_back(std::move(call));
}

std::optional<Side> Match::take_awaited(CallId id) {
  if (ending_ || id == 0) return std::nullopt;
  for (Side side : kBothSides) {
    if (progress_[side].call_id != id) continue;
    progress_[side].call_id = 0;
    return side;
  }
  return std::nullopt;
}

void Match::accept_reply(Side side, const Reply& reply, Instant now, Effects& effects) {
  Progress& player = progress_[side];
  if (const auto* choice = std::get_if<ChoiceAnswer>(&reply)) {
    player.choice = choice->choice;
    player.answered_in.choice = now - player.asked_at;
    player.receipts.choice = choice->receipt;
    if (bindings_.commitments[side]) bindings_.nonces[side] = choice->choice_nonce;
  } else if (const auto* join = std::get_if<JoinAnswer>(&reply); !join->accept) {
    const core::Error declined{
        ErrorCode::kInvitationDeclined,
        "the player declined the invitation: accept is false in its GAME_JOIN_ACK", "/accept"};
    record(side, declined, now - player.asked_at, CallPhase::kAnswered);
    player.receipts.join = join->receipt;
    lose(side, game_error(side, declined), effects);
    return;
  } else {
    player.answered_in.join = now - player.asked_at;
    player.receipts.join = join->receipt;
    if (plan_.draw_commitment) player.commitment = join->choice_commitment;
  }
  player.state = SeatState::kAnswered;
}

void Match::fail(Side side, const core::Error& error, Instant now, const CallEvidence& evidence,
                 Effects& effects) {
  Progress& player = progress_[side];
  const bool is_unanswered = core::error_info(error.code).retryable;
  const CallPhase unanswered = evidence.sent_at ? CallPhase::kSent : CallPhase::kConnect;
  FailureRecord& failure =
      record(side, error, now - player.asked_at, is_unanswered ? unanswered : CallPhase::kAnswered);
  if (error.code == ErrorCode::kTimeout) {
    ClockProof proof{.limit = player.window_end - player.asked_at,
                     .sent_at = evidence.sent_at,
                     .gave_up_at = now,
                     .own = evidence.own};
    // If the end of the wait was noticed late, the answer may have been noticed late, too.
    proof.own.scheduling =
        std::max<Duration>(proof.own.scheduling, now - player.window_end - evidence.grace);
    player.was_wronged = player.was_wronged || is_void(proof);
    failure.clock = proof;
  }
  if (core::error_info(error.code).retryable) {
    fail_attempt(side, error, effects);
  } else {
    fail_answer(side, error, now, effects);
  }
}

void Match::fail_attempt(Side side, const core::Error& error, Effects& effects) {
  Progress& player = progress_[side];
  ++player.failed_attempts;
  SendGameError notice = game_error(side, error);
  notice.retry_count = player.failed_attempts;
  const Seat& seat = plan_.seats[side];
  notice.max_retries = seat.is_suspended || seat.own_limits ? 1 : plan_.settings.max_attempts;
  if (notice.retry_count >= notice.max_retries) {
    lose(side, std::move(notice), effects);
    return;
  }
  notice.consequence = "The call is made again; after the last attempt the match is lost.";
  notice.next_retry_in = plan_.settings.retry_delay;
  effects.emplace_back(std::move(notice));
  call_later(side, effects);
}

void Match::call_later(Side side, Effects& effects) {
  Progress& player = progress_[side];
  player.state = SeatState::kWaitingForRetry;
  player.timer_id = ++last_id_;
  effects.emplace_back(StartTimer{player.timer_id, plan_.settings.retry_delay});
}

Effects Match::on_out_of_reach(CallId id) {
  Effects effects;
  if (const auto side = take_awaited(id)) call_later(*side, effects);
  return effects;
}

void Match::fail_answer(Side side, const core::Error& error, Instant now, Effects& effects) {
  Progress& player = progress_[side];
  ++player.invalid_answers;
  SendGameError notice = game_error(side, error);
  notice.retry_count = player.invalid_answers;
  notice.max_retries = plan_.settings.max_invalid_answers;
  if (notice.retry_count >= notice.max_retries) {
    lose(side, std::move(notice), effects);
  } else if (player.window_end <= now) {
    // No time is left for another answer in this attempt, so it fails like a time-out.
    fail_attempt(side, error, effects);
  } else {
    notice.consequence =
        "The call is made again within the same time limit; after the last invalid answer the "
        "match is lost.";
    notice.next_retry_in = Duration::zero();
    effects.emplace_back(std::move(notice));
    ask(side, now, effects);
  }
}

void Match::lose(Side side, SendGameError notice, Effects& effects) {
  progress_[side].state = SeatState::kFailed;
  progress_[side].lost_by = termination_for(stage_call(), notice.error.code);
  notice.action_required = "NONE";
  notice.consequence = "Technical loss of this match.";
  if (is_unfair()) {
    notice.action_required = expected_reply(Call::kInvitation);
    notice.consequence =
        "The referee itself was late, so this does not count: the match is played again.";
  }
  effects.emplace_back(std::move(notice));
}

SendGameError Match::game_error(Side side, const core::Error& error) const {
  SendGameError notice;
  notice.side = notice.affected = side;
  notice.call = stage_call();
  notice.error = error;
  notice.action_required = expected_reply(stage_call());
  return notice;
}

FailureRecord& Match::record(Side side, const core::Error& error, Duration elapsed,
                             CallPhase phase) {
  return failures_.emplace_back(
      FailureRecord{.side = side,
                    .player = plan_.seats[side].player,
                    .call = stage_call(),
                    .code = error.code,
                    // Attempts count from 1, also for a player that lost without being called.
                    .attempt = std::max(1, progress_[side].attempt),
                    .elapsed = elapsed,
                    .phase = phase,
                    .text = error.message,
                    .field = error.field,
                    .clock = {}});
}

void Match::settle(Instant now, Effects& effects) {
  if (ending_ || played_) return;
  bool has_failed = false;
  for (const Progress& player : progress_.both) {
    if (player.state != SeatState::kAnswered && player.state != SeatState::kFailed) return;
    has_failed = has_failed || player.state == SeatState::kFailed;
  }
  if (has_failed && is_unfair()) {
    play_again(effects);
  } else if (has_failed || state_ == MatchState::kCollectingChoices) {
    decide(effects);
  } else {
    begin_stage(MatchState::kCollectingChoices, now, effects);
  }
}

/// Whether a player lost by time-outs of which at least one was the referee's own fault.
bool Match::is_unfair() const {
  return replays_ < plan_.settings.max_replays &&
         std::ranges::any_of(progress_.both, [](const Progress& player) {
           return player.was_wronged && (player.lost_by == Termination::kTimeoutJoin ||
                                         player.lost_by == Termination::kTimeoutChoice);
         });
}

/// Replays the match from the invitation on, with the same seed, which is still secret, and after a
/// pause, since the referee was overloaded. If both players have committed, their commitments stay
/// valid. If only one has, it can send a new commitment, because its opponent may know its choice
/// by now.
void Match::play_again(Effects& effects) {
  ++replays_;
  progress_ = {};
  bindings_.nonces = {};
  state_ = MatchState::kWaitingForPlayers;
  replay_timer_ = ++last_id_;
  effects.emplace_back(StartTimer{replay_timer_, plan_.settings.retry_delay});
}

void Match::decide(Effects& effects) {
  const Progress& a = progress_[Side::kA];
  const Progress& b = progress_[Side::kB];
  state_ = MatchState::kDrawingNumber;
  played_ = a.lost_by || b.lost_by ? technically_lost(plan_, {{a.lost_by, b.lost_by}},
                                                      {{a.choice, b.choice}}, bindings_)
                                   : played(rules_, plan_, {{*a.choice, *b.choice}}, bindings_);
  played_->failures = failures_;
  played_->answered_in = {{a.answered_in, b.answered_in}};
  played_->receipts = {{a.receipts, b.receipts}};
  played_->replays = replays_;
  report(effects);
}

void Match::report(Effects& effects) {
  ++report_attempts_;
  is_report_awaited_ = true;
  effects.emplace_back(ReportResult{*played_, report_attempts_});
}

void Match::finish(Ending ending, std::optional<core::Error> error, Effects& effects) {
  state_ = MatchState::kFinished;
  ending_ = ending;
  is_report_awaited_ = false;
  effects.emplace_back(Finished{ending, std::move(error)});
}

}  // namespace league::referee
