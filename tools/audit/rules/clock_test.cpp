#include "tools/audit/rules/rules.h"

#include <gtest/gtest.h>

namespace league::tools::auditor {
namespace {

using nlohmann::json;

json time_out(int attempt, int scheduling_us, bool is_void) {
  json clock = {{"limit_ms", 5000},
                {"sent_at", "2025-01-15T10:30:00.000125Z"},
                {"gave_up_at", "2025-01-15T10:30:05.000125Z"},
                {"scheduling_delay_us", scheduling_us},
                {"canary_us", 400},
                {"void", is_void}};
  return {{"player_id", "P02"}, {"call", "GAME_INVITATION"}, {"error_code", "E001"},
          {"elapsed_ms", 5000}, {"attempt", attempt},        {"clock", clock}};
}

json on_time(int attempt) { return time_out(attempt, 900, false); }
json late(int attempt) { return time_out(attempt, 300'000, true); }

/// The rules that a loss for time of P02 breaks.
std::vector<std::string> rules_of(const json& failures, int replays = 0,
                                  const char* termination = "TIMEOUT_JOIN") {
  static const std::string kFile = "league.log.jsonl";
  json details = {{"termination", termination}, {"failures", failures}, {"replays", replays}};
  AcceptedReport report;
  report.match_id = "R1M1";
  report.sender = "referee:REF01";
  report.result = {{"score", {{"P01", 3}, {"P02", 0}}}, {"details", details}};
  if (details["termination"] != "BOTH_FAILED") report.result["winner"] = "P01";
  report.place = {&kFile, 3};
  Findings findings;
  check_clock(report, findings);
  std::vector<std::string> rules;
  for (const auto& fault : findings.faults) rules.push_back(fault.rule);
  return rules;
}

using Rules = std::vector<std::string>;

TEST(VerifyClock, AProvenLossIsRight) {
  EXPECT_EQ(rules_of({on_time(1), on_time(2), on_time(3)}), Rules{});
}

TEST(VerifyClock, ALossNeedsAProofOfEachOfItsTimeOuts) {
  json unproven = on_time(2);
  unproven.erase("clock");
  EXPECT_EQ(rules_of({on_time(1), unproven, on_time(3)}), Rules{"clock.unproven"});
}

TEST(VerifyClock, WhereBothFailedOnlyLossesForTimeNeedAProof) {
  json unproven = on_time(2);
  unproven.erase("clock");
  EXPECT_EQ(rules_of({on_time(1), unproven}, 0, "BOTH_FAILED"), Rules{"clock.unproven"});
  json refused = unproven;
  refused["error_code"] = "E009";
  refused["attempt"] = 3;
  EXPECT_EQ(rules_of({on_time(1), unproven, refused}, 0, "BOTH_FAILED"), Rules{});
}

TEST(VerifyClock, AVoidTimeOutMustNotCostTheMatch) {
  EXPECT_EQ(rules_of({on_time(1), late(2), on_time(3)}), Rules{"clock.void_loss"});
}

TEST(VerifyClock, VoidTimeOutsOfEarlierPlaysAreNoFault) {
  EXPECT_EQ(rules_of({late(1), late(2), late(3), on_time(1), on_time(2), on_time(3)}, 1), Rules{});
  EXPECT_EQ(rules_of({late(1), on_time(1)}, 1), Rules{}) << "one attempt each";
}

TEST(VerifyClock, AfterThreeReplaysAnyLossStands) {
  EXPECT_EQ(rules_of({late(1), late(1), late(1), late(1)}, 3), Rules{});
  EXPECT_EQ(rules_of({late(1), late(1), late(1), late(1), late(1)}, 4), Rules{"clock.replays"});
}

TEST(VerifyClock, TheMarkMustFollowFromTheNumbers) {
  EXPECT_EQ(rules_of(json::array({time_out(1, 251'000, false)})), Rules{"clock.arithmetic"});
  EXPECT_EQ(rules_of(json::array({time_out(1, 250'000, false)})), Rules{});
  EXPECT_EQ(rules_of(json::array({time_out(1, 250'000, true)}), 0, "NORMAL"),
            Rules{"clock.arithmetic"});
}

TEST(VerifyClock, NonsenseIsNoCrash) {
  EXPECT_EQ(rules_of(json::array({1, nullptr, json::object()})), Rules{});
  EXPECT_EQ(rules_of("failures"), Rules{});
}

}  // namespace
}  // namespace league::tools::auditor
