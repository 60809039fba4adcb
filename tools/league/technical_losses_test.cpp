#include "tools/league/technical_losses.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::tools {
namespace {

using nlohmann::json;

audit::LogEntry report(const std::string& match, const json& score, const json& details) {
  json frame = {{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "report_match_result"},
                {"params",
                 {{"message_type", "MATCH_RESULT_REPORT"},
                  {"match_id", match},
                  {"result", {{"winner", nullptr}, {"score", score}, {"details", details}}}}}};
  audit::LogEntry entry;
  entry.kind = "request";
  entry.message_type = "MATCH_RESULT_REPORT";
  entry.match_id = match;
  entry.raw = frame.dump();
  return entry;
}

json failed(const char* player, const char* call, const char* code) {
  return {
      {"drawn_number", nullptr},
      {"termination", "TIMEOUT_CHOICE"},
      {"failures", json::array({{{"player_id", player}, {"call", call}, {"error_code", code}}})}};
}

TEST(TechnicalLosses, NameTheCallAndTheCode) {
  auto losses = technical_losses_of(
      {report("R1M1", {{"P01", 3}, {"P02", 0}}, failed("P02", "CHOOSE_PARITY_CALL", "E001"))});
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].player_id, "P02");
  EXPECT_EQ(losses[0].reason, "CHOOSE_PARITY_CALL: E001 TIMEOUT_ERROR");
  EXPECT_EQ(losses[0].matches, std::vector<std::string>{"R1M1"});
}

TEST(TechnicalLosses, MatchesThatWerePlayedDoNotCount) {
  EXPECT_TRUE(technical_losses_of({report("R1M1", {{"P01", 3}, {"P02", 0}},
                                          {{"drawn_number", 4}, {"termination", "PLAYED"}})})
                  .empty());
}

TEST(TechnicalLosses, TheSameReasonIsTakenTogetherAndRepeatsCountOnce) {
  auto first = report("R1M1", {{"P01", 3}, {"P02", 0}}, failed("P02", "GAME_INVITATION", "E009"));
  auto second = report("R2M1", {{"P02", 0}, {"P03", 3}}, failed("P02", "GAME_INVITATION", "E009"));
  auto losses = technical_losses_of({first, second, second});
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].matches, (std::vector<std::string>{"R1M1", "R2M1"}));
}

TEST(TechnicalLosses, RefusedReportsDoNotCount) {
  auto entry = report("R1M1", {{"P01", 3}, {"P02", 0}}, failed("P02", "GAME_INVITATION", "E009"));
  entry.verdict = "E034";
  EXPECT_TRUE(technical_losses_of({entry}).empty());
}

TEST(TechnicalLosses, BothMayLose) {
  auto losses =
      technical_losses_of({report("R1M1", {{"P01", 0}, {"P02", 0}},
                                  {{"drawn_number", nullptr}, {"termination", "BOTH_FAILED"}})});
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses[0].reason, "BOTH_FAILED");
}

}  // namespace
}  // namespace league::tools
