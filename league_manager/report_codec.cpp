#include "league_manager/report_codec.h"

namespace league::league_manager {
namespace {

FailureKind kind_of(core::ErrorCode code) {
  switch (code) {
    case core::ErrorCode::kTimeout:
      return FailureKind::kTimeout;
    case core::ErrorCode::kConnectionError:
    case core::ErrorCode::kPlayerUnavailable:
      return FailureKind::kConnection;
    default:
      return FailureKind::kValidation;
  }
}

/// What a report says when nobody failed; other referees leave the field out.
constexpr std::string_view kPlayed = "NORMAL";
constexpr std::size_t kLongestReason = 100;

}  // namespace

core::Result<MatchReport> report_of(const envelope::Envelope& envelope,
                                    const envelope::MatchResultReport& message) {
  std::string id = envelope.match_id ? envelope.match_id->str() : "";
  auto match = MatchKey::parse(id);
  if (!match) {
    return core::Error{core::ErrorCode::kMatchNotFound,
                       "match_id \"" + id.substr(0, 64) + "\" is not of the form R1M1",
                       "/match_id"};
  }
  const auto& details = message.result.details;
  MatchReport report;
  report.match = *match;
  report.attempt = details.attempt;
  if (message.result.winner) report.winner_id = message.result.winner->str();
  for (const auto& [player, points] : message.result.score)
    report.score.emplace_back(player.str(), points);
  report.drawn_number = details.drawn_number;
  for (const auto& [player, choice] : details.choices) {
    std::optional<std::string> text;
    if (choice) text = std::string(envelope::parity_name(*choice));
    report.choices.emplace_back(player.str(), std::move(text));
  }
  std::string termination = details.termination.value_or("");
  if (termination != kPlayed) report.technical_reason = termination.substr(0, kLongestReason);
  for (const auto& failure : details.failures) {
    // A player that declined has not failed: it said no, as it may.
    if (failure.error_code == core::ErrorCode::kInvitationDeclined) continue;
    // Nor has one that the referee itself kept from answering in time.
    if (failure.clock && failure.clock->is_void) continue;
    report.failures.push_back({failure.player_id.str(), kind_of(failure.error_code)});
  }
  return report;
}

}  // namespace league::league_manager
