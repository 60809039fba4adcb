#include "league_manager/events/events.h"

#include "common/core/error_code.h"

namespace league::league_manager {

namespace {
constexpr std::array<std::string_view, 4> kRecognitionNames = {"TOKEN", "REGISTRATION_NONCE",
                                                               "ENDPOINT_AND_NAME", "OPERATOR"};
constexpr std::array<std::string_view, 3> kNotificationKindNames = {
    "ROUND_ANNOUNCED", "ROUND_COMPLETED", "LEAGUE_COMPLETED"};
constexpr std::array<std::string_view, 6> kActNames = {"PAUSE",    "RESUME",     "EXTEND_ROUND",
                                                       "ANNOUNCE", "VOID_MATCH", "END_LEAGUE"};

void add(MatchSummary& summary, const CompactResult& result, int matches) {
  summary.total_matches += matches;
  if (result.is_technical()) {
    summary.technical_losses += matches;
  } else if (result.outcome == Outcome::kDraw) {
    summary.draws += matches;
  } else {
    summary.wins += matches;
  }
}
}  // namespace

std::string_view recognition_name(Recognition recognition) {
  return kRecognitionNames[static_cast<std::size_t>(recognition)];
}

std::optional<Recognition> parse_recognition(std::string_view text) {
  for (std::size_t i = 0; i < kRecognitionNames.size(); ++i) {
    if (kRecognitionNames[i] == text) return static_cast<Recognition>(i);
  }
  return std::nullopt;
}

std::string_view notification_kind_name(NotificationKind kind) {
  return kNotificationKindNames[static_cast<std::size_t>(kind)];
}

std::optional<NotificationKind> parse_notification_kind(std::string_view text) {
  for (std::size_t i = 0; i < kNotificationKindNames.size(); ++i) {
    if (kNotificationKindNames[i] == text) return static_cast<NotificationKind>(i);
  }
  return std::nullopt;
}

std::string FailureCause::str() const {
  const auto code = core::parse_error_code(error_code);
  std::string line = call + ": " + error_code;
  return code ? line + " " + std::string(core::error_info(*code).name) : line;
}

std::string_view operator_act_name(OperatorAct act) {
  return kActNames[static_cast<std::size_t>(act)];
}

std::optional<OperatorAct> parse_operator_act(std::string_view text) {
  for (std::size_t i = 0; i < kActNames.size(); ++i) {
    if (kActNames[i] == text) return static_cast<OperatorAct>(i);
  }
  return std::nullopt;
}

void MatchSummary::count(const CompactResult& result) { add(*this, result, 1); }

void MatchSummary::discount(const CompactResult& result) { add(*this, result, -1); }

}  // namespace league::league_manager
