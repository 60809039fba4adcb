#include "league_manager/service/report_codec.h"

#include <gtest/gtest.h>

#include "common/envelope/codec.h"
#include "common/envelope/envelope_testing.h"

namespace league::league_manager::service {
namespace {

using nlohmann::json;

core::Result<MatchReport> read(const json& message) {
  auto envelope = envelope::decode_envelope(message);
  auto body = envelope::decode<envelope::MatchResultReport>(message);
  if (!envelope) return envelope.error();
  if (!body) return body.error();
  return report_of(*envelope, *body);
}

TEST(ReportCodec, TakesOverTheResult) {
  auto message = envelope::testing::golden("match_result_report");
  message["match_id"] = "R2M3";
  message["result"]["details"]["termination"] = "NORMAL";
  message["result"]["details"]["attempt"] = 2;
  auto report = read(message);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->match, (events::MatchKey{2, 3}));
  EXPECT_EQ(report->attempt, 2);
  EXPECT_EQ(report->claim.technical_reason, "");
  EXPECT_EQ(report->round, 1);
  EXPECT_EQ(report->game_type, "even_odd");
  EXPECT_EQ(report->conversation, "convr1m1001");
  EXPECT_EQ(report->replays, 1);
  EXPECT_EQ(report->claim.score->size(), 2U);
  EXPECT_EQ(report->claim.choices.size(), 2U);
}

TEST(ReportCodec, SortsFailuresByKindAndADeclineIsOne) {
  auto message = envelope::testing::golden("match_result_report");
  auto& failures = message["result"]["details"]["failures"];
  failures = json::array();
  for (const char* code : {"E001", "E009", "E038", "E004", "E012", "E037"}) {
    failures.push_back({{"player_id", "P01"},
                        {"call", "GAME_INVITATION"},
                        {"error_code", code},
                        {"elapsed_ms", 5},
                        {"attempt", 1}});
  }
  auto report = read(message);
  ASSERT_TRUE(report) << report.error().message;
  std::vector<events::FailureKind> kinds;
  for (const auto& failure : report->failures) {
    if (failure.counts) kinds.push_back(failure.kind);
  }
  using enum events::FailureKind;
  EXPECT_EQ(kinds, (std::vector{kTimeout, kConnection, kConnection, kValidation, kValidation,
                                kValidation}));
}

TEST(ReportCodec, ALongReasonIsCut) {
  auto message = envelope::testing::golden("match_result_report");
  message["result"]["details"]["termination"] = std::string(5000, 'x');
  auto report = read(message);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->claim.technical_reason.size(), 100U);
}

TEST(ReportCodec, RefusesAMatchOfAnotherForm) {
  for (const char* id : {"match7", "R0M1", "R1M", "r1m1", "R1M1 "}) {
    auto message = envelope::testing::golden("match_result_report");
    message["match_id"] = id;
    auto report = read(message);
    ASSERT_FALSE(report) << id;
    EXPECT_EQ(report.error().code, core::ErrorCode::kMatchNotFound) << id;
    EXPECT_EQ(report.error().field, "/match_id");
  }
}

}  // namespace
}  // namespace league::league_manager::service
