#include "referee/service/result_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/core/text.h"

namespace league::referee::service {
namespace {

constexpr std::size_t kLongestDescription = 300;
constexpr std::size_t kLongestField = 90;

std::string wall_time(Instant instant, const ClockAnchor& anchor) {
  auto since = std::chrono::floor<std::chrono::microseconds>(instant - anchor.steady);
  return anchor.utc.after(since).to_log();
}

int microseconds_of(Duration duration) {
  auto count = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return static_cast<int>(
      std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::int32_t>::max()));
}

envelope::ClockProof wire_proof(const ClockProof& proof, const ClockAnchor& anchor) {
  envelope::ClockProof wire;
  wire.limit_ms = microseconds_of(proof.limit) / 1000;
  if (proof.sent_at) wire.sent_at = wall_time(*proof.sent_at, anchor);
  wire.gave_up_at = wall_time(proof.gave_up_at, anchor);
  wire.scheduling_delay_us = microseconds_of(proof.own.scheduling);
  wire.canary_us = microseconds_of(proof.own.canary);
  if (proof.own.seat > Duration::zero()) wire.seat_delay_us = microseconds_of(proof.own.seat);
  wire.is_void = is_void(proof);
  return wire;
}

envelope::Choices choices_of(const game::MatchResult& result, const ResultFrame& frame) {
  envelope::Choices choices;
  for (Side side : kBothSides) choices[frame.players[side]] = result.choices[side];
  return choices;
}

envelope::HexByPlayer by_player(const PerSide<std::optional<std::string>>& values,
                                const ResultFrame& frame) {
  envelope::HexByPlayer named;
  for (Side side : kBothSides) {
    if (values[side]) named[frame.players[side]] = *values[side];
  }
  return named;
}

/// Sets seed, version, commitments and nonces, which are the same in GAME_OVER and the report.
template <typename Message>
void add_proof(const RefereedMatch& match, const ResultFrame& frame, Message& message) {
  message.draw_proof = frame.draw_proof;
  message.draw_version = game::draw_version(match.bindings);
  message.choice_commitments = by_player(match.bindings.commitments, frame);
  message.choice_nonces = by_player(match.bindings.nonces, frame);
}

std::optional<std::string> number_kind(const game::MatchResult& result, const ResultFrame& frame) {
  if (!result.drawn_number) return std::nullopt;
  const auto kind = frame.rules.kind_of(*result.drawn_number);
  return kind ? std::optional(std::string(*kind)) : std::nullopt;
}

std::optional<core::PlayerId> winner_of(const game::MatchResult& result, const ResultFrame& frame) {
  const auto winner = game::winner_of(result.outcome);
  return winner ? std::optional(frame.players[*winner]) : std::nullopt;
}

envelope::GameStatus status_of(const game::MatchResult& result) {
  if (result.is_technical()) return envelope::GameStatus::kTechnicalLoss;
  return game::winner_of(result.outcome) ? envelope::GameStatus::kWin : envelope::GameStatus::kDraw;
}

envelope::CallFailure wire_failure(const FailureRecord& failure, const ClockAnchor& anchor) {
  auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(failure.elapsed);
  std::optional<envelope::ClockProof> proof;
  if (failure.clock) proof = wire_proof(*failure.clock, anchor);
  return {.player_id = failure.player,
          .call = std::string(call_name(failure.call)),
          .error_code = failure.code,
          .elapsed_ms = static_cast<int>(elapsed.count()),
          .attempt = failure.attempt,
          .clock = std::move(proof),
          .error_description = core::shown(failure.text, kLongestDescription),
          .phase = std::string(phase_name(failure.phase)),
          .field = core::shown(failure.field, kLongestField)};
}

}  // namespace

envelope::GameOver game_over(const RefereedMatch& match, const ResultFrame& frame) {
  envelope::GameOver over;
  over.game_type = frame.rules.game_type();
  over.game_result = {.status = status_of(match.result),
                      .winner_player_id = winner_of(match.result, frame),
                      .drawn_number = match.result.drawn_number,
                      .number_parity = number_kind(match.result, frame),
                      .choices = choices_of(match.result, frame),
                      .reason = match.reason};
  add_proof(match, frame, over);
  return over;
}

envelope::MatchResultReport match_report(const RefereedMatch& match, const ResultFrame& frame,
                                         int attempt, const ClockAnchor& anchor) {
  envelope::MatchResultReport report;
  report.game_type = frame.rules.game_type();
  report.result.winner = winner_of(match.result, frame);
  const auto points = game::points_of(frame.rules, match.result);
  for (Side side : kBothSides) report.result.score[frame.players[side]] = points[side];
  envelope::ResultDetails& details = report.result.details;
  details.drawn_number = match.result.drawn_number;
  details.number_parity = number_kind(match.result, frame);
  details.choices = choices_of(match.result, frame);
  details.attempt = attempt;
  details.termination = std::string(termination_name(match.termination()));
  if (match.replays > 0) details.replays = match.replays;
  add_proof(match, frame, details);
  for (Side side : kBothSides) {
    const auto& times = match.answered_in[side];
    if (times.join) details.join_times_us[frame.players[side]] = microseconds_of(*times.join);
    if (times.choice) details.choice_times_us[frame.players[side]] = microseconds_of(*times.choice);
    const auto& receipts = match.receipts[side];
    if (receipts.join || receipts.choice)
      details.receipts[frame.players[side]] = {.join = receipts.join, .choice = receipts.choice};
  }
  for (const auto& failure : match.failures) {
    details.failures.push_back(wire_failure(failure, anchor));
  }
  return report;
}

}  // namespace league::referee::service
