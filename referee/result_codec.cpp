#include "referee/result_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace league::referee {
namespace {

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
  wire.is_void = is_void(proof);
  return wire;
}

envelope::Choices choices_of(const MatchResult& result, const PerPlayer<core::PlayerId>& players) {
  envelope::Choices choices;
  for (Slot slot : kBothSlots) {
    const auto& choice = result.choices[slot];
    choices[players[slot]] = choice ? envelope::parse_parity(*choice) : std::nullopt;
  }
  return choices;
}

std::optional<envelope::Parity> parity_of(const MatchResult& result) {
  return result.number_parity ? envelope::parse_parity(*result.number_parity) : std::nullopt;
}

std::optional<core::PlayerId> winner_of(const MatchResult& result,
                                        const PerPlayer<core::PlayerId>& players) {
  if (!result.winner) return std::nullopt;
  return players[*result.winner];
}

envelope::GameStatus status_of(ResultStatus status) {
  switch (status) {
    case ResultStatus::kWin:
      return envelope::GameStatus::kWin;
    case ResultStatus::kDraw:
      return envelope::GameStatus::kDraw;
    case ResultStatus::kTechnicalLoss:
      return envelope::GameStatus::kTechnicalLoss;
  }
  return envelope::GameStatus::kDraw;
}

}  // namespace

envelope::GameResult game_result(const MatchResult& result,
                                 const PerPlayer<core::PlayerId>& players) {
  return {.status = status_of(result.status),
          .winner_player_id = winner_of(result, players),
          .drawn_number = result.drawn_number,
          .number_parity = parity_of(result),
          .choices = choices_of(result, players),
          .reason = result.reason};
}

envelope::MatchResult match_result(const MatchResult& result,
                                   const PerPlayer<core::PlayerId>& players, int attempt,
                                   const std::string& draw_proof, const ClockAnchor& anchor) {
  envelope::MatchResult report;
  report.winner = winner_of(result, players);
  for (Slot slot : kBothSlots) report.score[players[slot]] = result.score[slot];
  report.details.drawn_number = result.drawn_number;
  report.details.number_parity = parity_of(result);
  report.details.choices = choices_of(result, players);
  report.details.attempt = attempt;
  report.details.termination = std::string(termination_name(result.termination));
  report.details.draw_proof = draw_proof;
  if (result.replays > 0) report.details.replays = result.replays;
  for (const auto& failure : result.failures) {
    auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(failure.elapsed);
    std::optional<envelope::ClockProof> proof;
    if (failure.clock) proof = wire_proof(*failure.clock, anchor);
    report.details.failures.push_back({.player_id = failure.player,
                                       .call = std::string(call_name(failure.call)),
                                       .error_code = failure.code,
                                       .elapsed_ms = static_cast<int>(elapsed.count()),
                                       .attempt = failure.attempt,
                                       .clock = std::move(proof)});
  }
  return report;
}

}  // namespace league::referee
