#include "league_manager/service/report_codec.h"

namespace league::league_manager::service {
namespace {

events::FailureKind kind_of(core::ErrorCode code) {
  switch (code) {
    case core::ErrorCode::kTimeout:
      return events::FailureKind::kTimeout;
    case core::ErrorCode::kConnectionError:
    case core::ErrorCode::kPlayerUnavailable:
      return events::FailureKind::kConnection;
    default:
      return events::FailureKind::kValidation;
  }
}

/// The termination of a match without failures; third-party referees can leave the field out.
constexpr std::string_view kPlayed = "NORMAL";
constexpr std::size_t kLongestReason = 100;

game::ByPlayer by_player(const envelope::HexByPlayer& values) {
  game::ByPlayer out;
  for (const auto& [player, value] : values) out.emplace_back(player.str(), value);
  return out;
}

game::Claim claim_of(const envelope::MatchResult& result) {
  const auto& details = result.details;
  game::Claim claim;
  if (result.winner) claim.winner = result.winner->str();
  auto& score = claim.score.emplace();
  for (const auto& [player, points] : result.score) score.emplace_back(player.str(), points);
  claim.drawn_number = details.drawn_number;
  claim.number_kind = details.number_parity;
  for (const auto& [player, choice] : details.choices)
    claim.choices.emplace_back(player.str(), choice);
  claim.commitments = by_player(details.choice_commitments);
  claim.nonces = by_player(details.choice_nonces);
  claim.draw_version = details.draw_version;
  claim.seed = details.draw_proof;
  std::string termination = details.termination.value_or("");
  if (termination != kPlayed) claim.technical_reason = termination.substr(0, kLongestReason);
  return claim;
}

ReportedFailure failure_of(const envelope::CallFailure& failure) {
  ReportedFailure out{.player_id = failure.player_id.str(), .kind = kind_of(failure.error_code)};
  out.is_timeout = failure.error_code == core::ErrorCode::kTimeout;
  out.has_clock = failure.clock.has_value();
  out.is_void = failure.clock && failure.clock->is_void;
  out.counts = !out.is_void;
  out.elapsed = std::chrono::milliseconds(failure.elapsed_ms);
  if (failure.clock) out.limit = std::chrono::milliseconds(failure.clock->limit_ms);
  out.call = failure.call;
  out.error_code = core::wire_code(failure.error_code);
  out.text = failure.error_description;
  out.phase = failure.phase;
  out.field = failure.field;
  return out;
}

}  // namespace

core::Result<MatchReport> report_of(const envelope::Envelope& envelope,
                                    const envelope::MatchResultReport& message) {
  std::string id = envelope.match_id ? envelope.match_id->str() : "";
  auto match = events::MatchKey::parse(id);
  if (!match) {
    return core::Error{core::ErrorCode::kMatchNotFound,
                       "match_id \"" + id.substr(0, 64) + "\" is not of the form R1M1",
                       "/match_id"};
  }
  const auto& details = message.result.details;
  MatchReport report{.match = *match,
                     .attempt = details.attempt,
                     .round = envelope.round_id,
                     .game_type = message.game_type,
                     .conversation = envelope.conversation_id.str(),
                     .claim = claim_of(message.result),
                     .failures = {},
                     .replays = details.replays.value_or(0)};
  for (const auto& [player, us] : details.join_times_us)
    report.answered_in[player.str()].join_us = us;
  for (const auto& [player, us] : details.choice_times_us)
    report.answered_in[player.str()].choice_us = us;
  for (const auto& [player, receipts] : details.receipts)
    report.receipts[player.str()] = {receipts.join, receipts.choice};
  for (const auto& failure : details.failures) report.failures.push_back(failure_of(failure));
  for (const auto& answers : details.answers)
    report.answers.push_back({answers.player_id.str(), answers.elapsed_us, answers.leniencies});
  return report;
}

}  // namespace league::league_manager::service
