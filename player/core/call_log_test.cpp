#include "player/core/call_log.h"

#include <gtest/gtest.h>

namespace league::player {
namespace {

using envelope::RecordedCall;

const core::MatchId kMatch("R1M1");
const core::PlayerId kSelf("P01");

RecordedCall answered(std::string type, int ms) {
  return {.message_type = std::move(type), .attempt = 1, .answered_at = "now", .answer_ms = ms};
}

RecordedCall joined(int ms, bool accept = true) {
  RecordedCall call = answered("GAME_INVITATION", ms);
  call.accept = accept;
  return call;
}

RecordedCall chosen(int ms) {
  RecordedCall call = answered("CHOOSE_PARITY_CALL", ms);
  call.parity_choice = "even";
  return call;
}

std::optional<std::string> contradiction(std::vector<RecordedCall> calls) {
  return contradiction_of_loss(
      {kMatch, kSelf, std::move(calls)},
      {.invitation = std::chrono::seconds(5), .choice = std::chrono::seconds(30)});
}

TEST(CallLogTest, KeepsTheCallsOfMatchesThatItExpects) {
  CallLog log;
  log.add(kMatch, joined(1));
  EXPECT_FALSE(log.record_of(kMatch, kSelf)) << "an earlier process may have got other calls";
  log.expect(kMatch);
  EXPECT_TRUE(log.record_of(kMatch, kSelf)->calls.empty());
  log.add(kMatch, joined(1));
  log.expect(kMatch);
  EXPECT_EQ(log.record_of(kMatch, kSelf)->calls.size(), 1U);
  EXPECT_EQ(log.record_of(kMatch, kSelf)->player_id, kSelf);
}

TEST(CallLogTest, IsBounded) {
  CallLog log;
  log.expect(kMatch);
  for (int i = 0; i < 100; ++i) log.add(kMatch, joined(i));
  EXPECT_EQ(log.record_of(kMatch, kSelf)->calls.size(), CallLog::kMostCalls);
  for (std::size_t i = 0; i < CallLog::kMostMatches; ++i)
    log.expect(core::MatchId("R2M" + std::to_string(i)));
  EXPECT_FALSE(log.record_of(kMatch, kSelf));
}

TEST(ContradictionTest, WhatTheRecordSaysAgainstALoss) {
  EXPECT_TRUE(contradiction({}));
  EXPECT_TRUE(contradiction({joined(3)})) << "and no call for the choice";
  EXPECT_TRUE(contradiction({joined(3), chosen(29'999)}));
  RecordedCall refused{.message_type = "GAME_INVITATION",
                       .attempt = 1,
                       .refused = "E040",
                       .reason = "another draw_commitment",
                       .is_callers_fault = true};
  EXPECT_TRUE(contradiction({refused}));
}

TEST(ContradictionTest, ALossThatIsDeserved) {
  EXPECT_FALSE(contradiction({joined(5'001)}));
  EXPECT_FALSE(contradiction({joined(1), chosen(30'001)}));
  EXPECT_FALSE(contradiction({joined(1, false)}));
  EXPECT_FALSE(contradiction({joined(1), {.message_type = "CHOOSE_PARITY_CALL", .attempt = 1}}));
  EXPECT_FALSE(contradiction({{.message_type = "GAME_INVITATION", .refused = "E028"}}));
}

}  // namespace
}  // namespace league::player
