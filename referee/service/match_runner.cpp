#include "referee/service/match_runner.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/agent/runtime/log.h"
#include "common/core/text.h"
#include "common/rpc/json_text.h"
#include "common/rpc/seat_address.h"

namespace league::referee::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using envelope::MessageType;
using nlohmann::json;

Error late_answer(core::Clock::Steady::duration late) {
  auto by = std::chrono::duration_cast<std::chrono::milliseconds>(late).count();
  return {ErrorCode::kTimeout,
          "the answer was read " + std::to_string(by) + " ms after the time limit", ""};
}

MatchSettings settings_for(const agent::runtime::Settings& settings) {
  MatchSettings match;
  match.invitation_limit = settings.time_limit(MessageType::kGameInvitation);
  match.choice_limit = settings.time_limit(MessageType::kChooseParityCall);
  match.max_attempts = settings.retry.max_attempts;
  match.retry_delay = settings.retry.delay;
  match.max_invalid_answers = settings.retry.max_invalid_answers;
  match.report_retry_delay = settings.retry.delay;
  return match;
}

std::optional<OwnLimits> own_limits(const PlayerSeat& seat) {
  if (!seat.limits) return std::nullopt;
  return OwnLimits{std::chrono::milliseconds(seat.limits->game_invitation),
                   std::chrono::milliseconds(seat.limits->choose_parity_call)};
}

/// How long the manager kept a call at a seat by itself, if no answer came in time: as long as it
/// says, but not longer than we have waited; if it says nothing, all the time, because it answers
/// for its player when the limit is over.
Duration kept_at_seat(const agent::peers::PeerReply& reply) {
  return reply.seat_delay ? std::min<Duration>(*reply.seat_delay, reply.elapsed) : reply.elapsed;
}

std::chrono::milliseconds round_up(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(duration);
}

}  // namespace

Result<std::shared_ptr<MatchRunner>> MatchRunner::create(const RunnerContext& context,
                                                         envelope::MatchAssignment assignment,
                                                         int round_id, OnFinished on_finished) {
  auto rules = context.deps.games.find(assignment.game_type);
  if (!rules) return rules.error();
  auto seats = seats_of(assignment, context.options.endpoints);
  if (!seats) return seats.error();
  auto seed = game::parse_seed(assignment.draw_seed);
  if (!seed) return seed.error();
  if (assignment.draw_commitment == "") assignment.draw_commitment.reset();
  MatchPlan plan{.match_id = assignment.match_id,
                 .seats = {},
                 .draw_seed = *seed,
                 .draw_commitment = assignment.draw_commitment,
                 .settings = settings_for(context.deps.settings)};
  for (Side side : kBothSides) {
    plan.seats[side].player = (*seats)[side].id;
    plan.seats[side].is_suspended = (*seats)[side].is_suspended;
    plan.seats[side].has_receipts = (*seats)[side].has_receipts;
    plan.seats[side].own_limits = own_limits((*seats)[side]);
    if ((*seats)[side].style)
      context.deps.peers.remember_style((*seats)[side].endpoint, *(*seats)[side].style);
  }
  return std::shared_ptr<MatchRunner>(new MatchRunner(context, std::move(assignment),
                                                      std::move(*seats), *rules, std::move(plan),
                                                      round_id, std::move(on_finished)));
}

MatchRunner::MatchRunner(const RunnerContext& context, envelope::MatchAssignment assignment,
                         PerSide<PlayerSeat> seats, game::SharedDefinition rules, MatchPlan plan,
                         int round_id, OnFinished on_finished)
    : context_(context),
      assignment_(std::move(assignment)),
      seats_{{std::make_shared<const PlayerSeat>(std::move(seats[Side::kA])),
              std::make_shared<const PlayerSeat>(std::move(seats[Side::kB]))}},
      round_id_(round_id),
      on_finished_(std::move(on_finished)),
      anchor_{context.deps.clock.steady_now(), context.deps.clock.utc_now()},
      plan_(std::move(plan)),
      rules_(std::move(rules)) {
  open_record();
}

std::shared_ptr<const PlayerSeat> MatchRunner::seat(Side side) const {
  std::lock_guard lock(seats_mutex_);
  return seats_[side];
}

void MatchRunner::call_players_at(const envelope::MatchAssignment& assignment) {
  auto moved = seats_of(assignment, context_.options.endpoints);
  if (!moved) {
    agent::runtime::log::warn("match {}: {}", assignment.match_id.str(), moved.error().message);
    return;
  }
  for (Side side : kBothSides) {
    PlayerSeat& there = (*moved)[side];
    if (there.id != seat(side)->id) continue;
    if (there.style) context_.deps.peers.remember_style(there.endpoint, *there.style);
    std::lock_guard lock(seats_mutex_);
    seats_[side] = std::make_shared<const PlayerSeat>(std::move(there));
  }
}

void MatchRunner::start() {
  // Read only once, since a player can return meanwhile.
  const PerSide<std::shared_ptr<const PlayerSeat>> seats{{seat(Side::kA), seat(Side::kB)}};
  if (seats[Side::kA]->is_suspended || seats[Side::kB]->is_suspended) return ping_suspended(seats);
  begin();
}

void MatchRunner::ping_suspended(const PerSide<std::shared_ptr<const PlayerSeat>>& seats) {
  pings_ = (seats[Side::kA]->is_suspended ? 1 : 0) + (seats[Side::kB]->is_suspended ? 1 : 0);
  for (Side side : kBothSides) {
    if (!seats[side]->is_suspended) continue;
    auto limit = context_.deps.settings.time_limit(MessageType::kGameInvitation);
    context_.deps.peers.ping(seats[side]->endpoint, "player:" + seats[side]->id.str(), limit,
                             [self = shared_from_this(), side](bool alive) {
                               {
                                 std::lock_guard lock(self->mutex_);
                                 self->plan_.seats[side].is_unavailable = !alive;
                               }
                               if (--self->pings_ == 0) self->begin();
                             });
  }
}

void MatchRunner::begin() {
  Effects effects;
  {
    std::lock_guard lock(mutex_);
    match_ = std::make_unique<Match>(*rules_, plan_);
    begun_at_ = context_.deps.clock.steady_now();
    effects = match_->start(begun_at_);
  }
  run(effects);
}

void MatchRunner::abandon() {
  Effects effects;
  {
    std::lock_guard lock(mutex_);
    if (!match_) match_ = std::make_unique<Match>(*rules_, plan_);
    effects = match_->abandon();
  }
  run(effects);
}

MatchSnapshot MatchRunner::snapshot() const {
  std::lock_guard lock(mutex_);
  return match_ ? match_->snapshot() : Match(*rules_, plan_).snapshot();
}

void MatchRunner::run(const Effects& effects) {
  note_state();
  for (const auto& effect : effects) {
    std::visit([this](const auto& one) { carry_out(one); }, effect);
  }
}

ResultFrame MatchRunner::result_frame() const {
  return {.rules = *rules_,
          .players = {{seat(Side::kA)->id, seat(Side::kB)->id}},
          .draw_proof = assignment_.draw_seed};
}

envelope::Envelope MatchRunner::envelope_for(MessageType type, const core::AuthToken& token) const {
  return context_.envelopes.make(type,
                                 {.conversation_id = assignment_.conversation_id,
                                  .auth_token = token.empty() ? std::nullopt : std::optional(token),
                                  .round_id = round_id_,
                                  .match_id = assignment_.match_id});
}

template <typename Message>
agent::peers::MessageCall<Message> MatchRunner::call_of(Side side, const Message& message,
                                                        std::chrono::milliseconds limit) {
  const auto to = seat(side);
  const auto envelope = envelope_for(Message::kType, to->credential);
  auto call =
      agent::peers::call_with({to->endpoint, "player:" + to->id.str()}, envelope, message, limit);
  std::string_view error_code;
  if constexpr (std::is_same_v<Message, envelope::GameError>) error_code = message.error_code;
  note_sent(to->id.str(), Message::kType, error_code);
  call.reply_defaults.player_id = to->id;
  call.reply_defaults.match_id = assignment_.match_id;
  return call;
}

template <typename Message>
void MatchRunner::tell(Side side, const Message& message) {
  auto call = call_of(side, message, context_.deps.settings.time_limit(Message::kType));
  call.budget = transport::link::Budget::kBroadcast;
  context_.deps.peers.call(std::move(call), [](const agent::peers::PeerReply&) {});
}

template <typename Message>
void MatchRunner::ask(const CallPlayer& effect, const Message& message) {
  auto call = call_of(effect.side, message, round_up(effect.time_limit));
  call.budget = transport::link::Budget::kGame;
  if (is_at_seat(call.endpoint)) call.grace = round_up(latest_answer(effect.time_limit));
  context_.deps.peers.call(
      std::move(call), [self = shared_from_this(), effect](const agent::peers::PeerReply& reply,
                                                           const typename Message::Answer* answer) {
        if (reply.is_receipt) return self->await_posted(effect, reply);
        self->on_answer(effect, reply,
                        answer == nullptr ? Result<Reply>(*reply.error)
                                          : self->read_answer(effect, reply, *answer));
      });
}

void MatchRunner::carry_out(const CallPlayer& effect) {
  {
    std::lock_guard lock(mutex_);
    calls_[effect.side] = effect;
  }
  const auto player = seat(effect.side);
  const auto opponent = seat(other(effect.side));
  if (effect.call == Call::kInvitation) {
    auto role =
        effect.side == Side::kA ? envelope::PlayerRole::kPlayerA : envelope::PlayerRole::kPlayerB;
    envelope::GameInvitation invitation{
        .game_type = assignment_.game_type,
        .role_in_match = role,
        .opponent_id = opponent->id,
        .player_id = player->id,
        .draw_commitment = assignment_.draw_commitment,
        .context = envelope::PlayContext{.attempt = assignment_.attempt,
                                         .play = effect.play,
                                         .game = game_context(),
                                         .history = history_for(effect.side)}};
    if (player->limits)
      invitation.deadline = context_.deps.clock.utc_now().after(round_up(effect.time_limit));
    return ask(effect, invitation);
  }
  envelope::ChooseParityCall call;
  call.player_id = player->id;
  call.game_type = assignment_.game_type;
  call.deadline = context_.deps.clock.utc_now().after(round_up(effect.time_limit));
  call.context = envelope::ChoiceContext{.opponent_id = opponent->id,
                                         .round_id = round_id_,
                                         .your_standings = player->standings,
                                         .draw_commitment = assignment_.draw_commitment,
                                         .opponent_commitment = effect.opponent_commitment,
                                         .attempt = assignment_.attempt,
                                         .play = effect.play,
                                         .game = game_context(),
                                         .history = history_for(effect.side)};
  ask(effect, call);
}

envelope::GameContext MatchRunner::game_context() const {
  return {.choices = rules_->choices(),
          .meeting = assignment_.meeting,
          .meetings = assignment_.meetings};
}

std::vector<envelope::EarlierMeeting> MatchRunner::history_for(Side side) const {
  std::vector<envelope::EarlierMeeting> history;
  for (const auto& [a, b] : assignment_.history)
    history.push_back(side == Side::kA ? envelope::EarlierMeeting{a, b}
                                       : envelope::EarlierMeeting{b, a});
  return history;
}

template <typename Answer>
Result<Reply> MatchRunner::read_answer(const CallPlayer& call, const agent::peers::PeerReply& reply,
                                       const Answer& answer) const {
  const auto called = seat(call.side);
  const envelope::Envelope& envelope = reply.answer->envelope;
  if (auto token =
          check_reply_token(*called, envelope.auth_token, context_.options.mode, *reply.notes);
      !token)
    return token.error();
  std::string match_id = envelope.match_id ? envelope.match_id->str() : "";
  if (answer.player_id != called->id) {
    return Error{ErrorCode::kSenderMismatch,
                 "player_id is " + core::shown(answer.player_id.str()) +
                     ", but this call was for " + called->id.str(),
                 "/player_id"};
  }
  const auto note = [&reply](envelope::Leniency leniency) {
    reply.notes->leniencies.push_back(leniency_name(leniency));
  };
  if constexpr (std::is_same_v<Answer, envelope::GameJoinAck>) {
    if (answer.choice_commitment && !assignment_.draw_commitment)
      note(envelope::Leniency::kCommitmentIgnored);
    return Reply(
        JoinAnswer{std::move(match_id), answer.accept, answer.choice_commitment, answer.receipt});
  } else {
    if (answer.choice_nonce && !call.is_bound) note(envelope::Leniency::kNonceIgnored);
    return Reply(ChoiceAnswer{std::move(match_id), answer.parity_choice, answer.choice_nonce,
                              answer.receipt});
  }
}

void MatchRunner::on_answer(const CallPlayer& call, const agent::peers::PeerReply& reply,
                            Result<Reply> answer) {
  // This process may have been suspended together with the timer that ends the wait, so that it is
  // unknown when the answer arrived. It counts as a time-out, whose proof contains our own delay
  // and makes it void.
  const auto& endpoint = seat(call.side)->endpoint;
  auto late = context_.deps.clock.steady_now() - call.deadline;
  if (reply.seat_delay && late >= Duration::zero())
    answer = Error{ErrorCode::kTimeout, answer.error().message, ""};
  if (answer && late > latest_answer(call.time_limit)) answer = late_answer(late);
  if (answer) {
    // Find out before the log entry is written whether the match refuses the answer.
    std::lock_guard lock(mutex_);
    if (auto fault = match_->fault_of(call.id, *answer)) answer = std::move(*fault);
  }
  if (!answer) {
    reply.notes->verdict = answer.error().code;
    reply.notes->fault = answer.error().message;
  }
  note_answer(seat(call.side)->id.str(), expected_reply(call.call), answer);
  if (answer) tell_of_slowness(call, reply.elapsed);
  CallEvidence evidence{.sent_at = reply.sent_at, .own = {}};
  if (!answer && answer.error().code == ErrorCode::kTimeout) {
    evidence.own = context_.deps.delays.worst_since(call.deadline - call.time_limit,
                                                    agent::runtime::route_to(endpoint));
    if (is_at_seat(endpoint) && late >= Duration::zero()) {
      evidence.own.seat = kept_at_seat(reply);
      evidence.grace = latest_answer(call.time_limit);
    }
  }
  // Before the match knows of it, since the other player's answer, on another thread, may lead to
  // the next calls.
  reply.write_record();
  Effects effects;
  {
    std::lock_guard lock(mutex_);
    if (answer) note_figures(call.side, reply);
    auto now = context_.deps.clock.steady_now();
    if (answer) {
      effects = match_->on_reply(call.id, *answer, now);
    } else if (is_out_of_reach(call, reply)) {
      effects = match_->on_out_of_reach(call.id);
    } else {
      effects = match_->on_failure(call.id, answer.error(), now, evidence);
    }
  }
  run(effects);
}

bool MatchRunner::is_at_seat(const transport::link::Endpoint& endpoint) const {
  return !context_.is_guest && transport::link::is_http(endpoint) &&
         endpoint.path.starts_with(rpc::kSeatsPath);
}

bool MatchRunner::is_out_of_reach(const CallPlayer& call,
                                  const agent::peers::PeerReply& reply) const {
  if (!is_at_seat(seat(call.side)->endpoint)) return false;
  // A seat whose player does not answer says so with 504, and one that has too many calls with 429.
  constexpr int kGatewayTimeout = 504;
  constexpr int kTooManyRequests = 429;
  const bool is_away =
      reply.error &&
      (reply.http_status == kTooManyRequests ||
       (reply.error->code == ErrorCode::kConnectionError && reply.http_status != kGatewayTimeout));
  const auto lasts = context_.deps.clock.steady_now() - begun_at_;
  Duration longest = context_.deps.settings.longest_match();
  if (const auto own = own_limits(*seat(call.side))) longest += own->invitation + own->choice;
  return is_away && lasts < longest;
}

void MatchRunner::tell_of_slowness(const CallPlayer& call, Duration elapsed) const {
  if (elapsed * 2 < call.time_limit) return;
  const auto seconds = [](Duration time) {
    const auto tenths = std::chrono::round<std::chrono::duration<std::int64_t, std::deci>>(time);
    return std::to_string(tenths.count() / 10) + "." + std::to_string(tenths.count() % 10);
  };
  agent::runtime::log::warn("{} is slow: {} of {} took {} s of {} s", seat(call.side)->id.str(),
                            call_name(call.call), assignment_.match_id.str(), seconds(elapsed),
                            seconds(call.time_limit));
}

void MatchRunner::carry_out(const SendGameError& effect) {
  envelope::RetryInfo retry{
      .retry_count = effect.retry_count, .max_retries = effect.max_retries, .next_retry_at = {}};
  if (effect.next_retry_in)
    retry.next_retry_at = context_.deps.clock.utc_now().after(round_up(*effect.next_retry_in));
  auto message =
      envelope::make_game_error(effect.error, {.affected_player = seat(effect.affected)->id,
                                               .action_required = effect.action_required,
                                               .consequence = effect.consequence,
                                               .retry_info = retry,
                                               .game_state = {}});
  tell(effect.side, message);
}

void MatchRunner::carry_out(const StartTimer& effect) {
  context_.deps.timer.schedule(effect.delay, [self = shared_from_this(), id = effect.id] {
    Effects effects;
    {
      std::lock_guard lock(self->mutex_);
      effects = self->match_->on_timer(id, self->context_.deps.clock.steady_now());
    }
    self->run(effects);
  });
}

void MatchRunner::carry_out(const ReportResult& effect) {
  is_reporting_ = true;
  auto report = match_report(effect.match, result_frame(), assignment_.attempt, anchor_);
  {
    std::lock_guard lock(mutex_);
    for (Side side : kBothSides) {
      if (answers_[side].elapsed_us.empty()) continue;
      report.result.details.answers.push_back(answers_[side]);
    }
  }
  const auto envelope = envelope_for(MessageType::kMatchResultReport, context_.own_token);
  std::string text = envelope::encode_text(envelope, report);
  if (context_.is_guest) {
    json message = envelope::encode(envelope, report);
    add_usual_spellings(message);
    text = rpc::to_json_text(message);
  }
  agent::peers::PeerCall call =
      agent::peers::call_with({context_.options.manager, "league_manager"}, envelope,
                              std::move(text), context_.deps.settings.time_limit(envelope.type));
  if (record_) record_->set_result(envelope::to_text(report.result));
  note_sent(call.peer, call.type, {});
  call.budget = transport::link::Budget::kGame;
  context_.deps.peers.call(
      std::move(call), [self = shared_from_this()](agent::peers::PeerReply reply) {
        if (reply.error) {
          agent::runtime::log::warn("the league manager has not accepted the report of {}: {}",
                                    self->assignment_.match_id.str(), reply.error->message);
        }
        reply.write_record();
        self->note_report(reply.error);
        Effects effects;
        {
          std::lock_guard lock(self->mutex_);
          if (!reply.error) self->ack_ = std::move(reply.acknowledgement);
          effects = reply.error ? self->match_->on_report_failed(*reply.error)
                                : self->match_->on_report_accepted();
        }
        self->run(effects);
      });
}

void MatchRunner::carry_out(const AnnounceGameOver& effect) {
  auto over = game_over(effect.match, result_frame());
  for (Side side : kBothSides) tell(side, over);
}

void MatchRunner::carry_out(const Finished& /*effect*/) {
  json ack;
  {
    std::lock_guard lock(mutex_);
    ack = std::move(ack_);
  }
  on_finished_(*this, ack);
}

}  // namespace league::referee::service
