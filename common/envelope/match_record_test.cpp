#include "common/envelope/match_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::envelope {
namespace {

using nlohmann::json;

TEST(MatchRecordTest, IsReadAsItWasWritten) {
  const MatchRecord record{.match_id = core::MatchId("R1M1"),
                           .player_id = core::PlayerId("P01"),
                           .calls = {{.message_type = "GAME_INVITATION",
                                      .attempt = 1,
                                      .at = "2025-01-15T10:30:00.000001Z",
                                      .answered_at = "2025-01-15T10:30:00.000301Z",
                                      .answer_ms = 0,
                                      .accept = true,
                                      .choice_commitment = "cc",
                                      .receipt = "ee"},
                                     {.message_type = "CHOOSE_PARITY_CALL",
                                      .refused = "E012",
                                      .reason = "not the credential of this match",
                                      .is_callers_fault = true}}};
  const json text = encode_match_record(record);
  EXPECT_EQ(text["calls"][0]["accept"], true);
  EXPECT_FALSE(text["calls"][0].contains("parity_choice"));
  EXPECT_EQ(text["calls"][1]["caller_fault"], true);
  const auto read = decode_match_record(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, record);
}

TEST(MatchRecordTest, WhatIsNoRecordIsAnError) {
  EXPECT_FALSE(decode_match_record(json::array()));
  EXPECT_FALSE(decode_match_record({{"match_id", "R1M1"}, {"player_id", "P01"}}));
  json many = {{"match_id", "R1M1"}, {"player_id", "P01"}, {"calls", json::array()}};
  EXPECT_TRUE(decode_match_record(many));
  for (int i = 0; i < 65; ++i) many["calls"].push_back({{"message_type", "GAME_INVITATION"}});
  EXPECT_EQ(decode_match_record(many).error().code, core::ErrorCode::kInvalidFieldValue);
  EXPECT_FALSE(decode_match_record(
      {{"match_id", "R1M1"}, {"player_id", "P01"}, {"calls", {{{"message_type", 1}}}}}));
}

}  // namespace
}  // namespace league::envelope
