#include "league_manager/events/events.h"

#include "common/core/error_code.h"

namespace league::league_manager {

namespace {
constexpr std::array<std::string_view, 4> kRecognitionNames = {"TOKEN", "REGISTRATION_NONCE",
                                                               "ENDPOINT_AND_NAME", "OPERATOR"};
constexpr std::array<std::string_view, 3> kNewsNames = {"ROUND_ANNOUNCED", "ROUND_COMPLETED",
                                                        "LEAGUE_COMPLETED"};
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

std::string_view news_name(News news) { return kNewsNames[static_cast<std::size_t>(news)]; }

std::optional<News> parse_news(std::string_view text) {
  for (std::size_t i = 0; i < kNewsNames.size(); ++i) {
    if (kNewsNames[i] == text) return static_cast<News>(i);
  }
  return std::nullopt;
}

std::string FailureCause::str() const {
  const auto code = core::parse_error_code(error_code);
  std::string line = call + ": " + error_code;
  return code ? line + " " + std::string(core::error_info(*code).name) : line;
}

void MatchSummary::count(const CompactResult& result) {
  ++total_matches;
  if (result.is_technical()) {
    ++technical_losses;
  } else if (result.outcome == Outcome::kDraw) {
    ++draws;
  } else {
    ++wins;
  }
}

}  // namespace league::league_manager
