#include "league_manager/service/agent_records.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/envelope/leniency.h"
#include "league_manager/core/league_testing.h"

namespace league::league_manager::service {
namespace {

using core::ErrorCode;
using nlohmann::json;
using std::chrono::milliseconds;

const events::AgentRef kP01 = events::AgentRef::player(0);
const events::AgentRef kP02 = events::AgentRef::player(1);
const events::AgentRef kRef = events::AgentRef::referee(0);
const core::UtcTimestamp kStart = *core::UtcTimestamp::parse("2026-01-15T10:30:00Z");
constexpr Pairing kPairing{0, 1};

audit::record::Record answer_of(const std::string& peer, milliseconds elapsed) {
  audit::record::Record record;
  record.direction = audit::record::Direction::kIn;
  record.kind = audit::record::Kind::kReply;
  record.time = kStart;
  record.elapsed = elapsed;
  record.notes.peer = peer;
  return record;
}

events::Event lost(events::AgentRef player, events::FailureCause cause) {
  return {kStart, events::FailureCounted{.agent = player,
                                         .kind = events::FailureKind::kTimeout,
                                         .match = events::MatchKey{1, 1},
                                         .cause = std::move(cause)}};
}

MatchReport report_with(std::vector<ReportedAnswers> answers,
                        std::vector<ReportedFailure> failures = {}) {
  MatchReport report;
  report.match = {1, 1};
  report.answers = std::move(answers);
  report.failures = std::move(failures);
  return report;
}

TEST(AgentRecords, SayNothingOfWhoIsNotKnown) {
  const json report = AgentRecords(kStart).report_of(kP01);
  EXPECT_EQ(report["total_faults"], 0);
  EXPECT_EQ(report["faults"], json::array());
  EXPECT_EQ(report["leniencies"], json::object());
  EXPECT_EQ(report["latencies"], (json{{"count", 0}, {"median_ms", nullptr}, {"p99_ms", nullptr}}));
  EXPECT_EQ(report["measured_since"], kStart.to_log());
}

TEST(AgentRecords, AFaultHasItsClauseItsValueAndItsRemedy) {
  AgentRecords records(kStart);
  records.on_events({lost(kP01, {"CHOOSE_PARITY_CALL", "E004", 3, "parity_choice is \"Even\""})});
  const json fault = records.report_of(kP01)["faults"][0];
  EXPECT_EQ(fault["clause"], "4.9.1");
  EXPECT_EQ(fault["error_name"], "INVALID_PARITY_CHOICE");
  EXPECT_EQ(fault["text"], "parity_choice is \"Even\"");
  EXPECT_EQ(fault["match_id"], "R1M1");
  EXPECT_EQ(fault["attempts"], 3);
  EXPECT_EQ(fault["lost_match"], true);
  EXPECT_NE(fault["remedy"].get<std::string>().find("lower case"), std::string::npos);
  EXPECT_EQ(records.report_of(kP02)["total_faults"], 0);
}

TEST(AgentRecords, AMissingFieldIsOfTheAnswerThatLacksIt) {
  AgentRecords records(kStart);
  records.on_events({lost(kP01, {"GAME_INVITATION", "E003", 3, "x"}),
                     lost(kP01, {"CHOOSE_PARITY_CALL", "E003", 3, "x"})});
  const json faults = records.report_of(kP01)["faults"];
  EXPECT_EQ(faults[0]["clause"], "4.7");
  EXPECT_EQ(faults[1]["clause"], "4.9");
}

TEST(AgentRecords, WhatARefereeSaysCountsForThePlayersOfItsMatchOnly) {
  AgentRecords records(kStart);
  const auto report = report_with(
      {{"P01", {1000, 3000}, {"missing_reply_token", "no_such_leniency"}},
       {"P09", {5}, {}},
       {"REF01", {5}, {}},
       {"nobody", {5}, {}}},
      {{.player_id = "P01", .call = "GAME_INVITATION", .error_code = "E001", .text = "late"},
       {.player_id = "P02", .counts = false, .error_code = "E001"},
       {.player_id = "P09", .error_code = "E001"}});
  records.on_report(kRef, report, kPairing, {}, kStart);
  const json own = records.report_of(kP01);
  EXPECT_EQ(own["latencies"]["count"], 2);
  EXPECT_EQ(own["latencies"]["p99_ms"], 3.0);
  EXPECT_EQ(own["leniencies"], json::object()) << "it is only the referee's word";
  EXPECT_EQ(own["leniencies_according_to"], (json{{"REF01", {{"missing_reply_token", 1}}}}));
  ASSERT_EQ(own["total_faults"], 1);
  EXPECT_EQ(own["faults"][0]["lost_match"], false);
  EXPECT_EQ(own["faults"][0]["according_to"], "REF01");
  EXPECT_EQ(records.report_of(kP02)["total_faults"], 0) << "the referee itself was late";
  EXPECT_EQ(records.report_of(events::AgentRef::player(8))["latencies"]["count"], 0);
  EXPECT_EQ(records.report_of(events::AgentRef::referee(0))["latencies"]["count"], 0);
}

TEST(AgentRecords, ALostMatchIsOneFault) {
  AgentRecords records(kStart);
  const events::Events events{lost(kP01, {"GAME_INVITATION", "E001", 3, "no answer"})};
  const ReportedFailure failed{.player_id = "P01", .error_code = "E001"};
  records.on_report(kRef, report_with({}, {failed, failed, failed}), kPairing, events, kStart);
  records.on_events(events);
  EXPECT_EQ(records.report_of(kP01)["total_faults"], 1);
}

TEST(AgentRecords, AnswersToTheManagerCount) {
  AgentRecords records(kStart);
  auto answer = answer_of("player:P01", milliseconds(4));
  answer.notes.leniencies = {leniency_name(envelope::Leniency::kMissingReplyToken)};
  records.on_record(answer);
  auto refused = answer_of("player:P01", milliseconds(9));
  refused.notes.verdict = ErrorCode::kInvalidReply;
  refused.notes.fault = "HTTP 500";
  records.on_record(refused);
  const json own = records.report_of(kP01);
  EXPECT_EQ(own["latencies"]["count"], 1);
  EXPECT_EQ(own["latencies"]["median_ms"], 4.0);
  EXPECT_EQ(own["leniencies"]["missing_reply_token"], 1);
  EXPECT_EQ(own["faults"][0]["error_code"], "E010");
}

TEST(AgentRecords, NobodyHarmsAnAgentByItsName) {
  AgentRecords records(kStart);
  auto request = answer_of("player:P01", milliseconds(1));
  request.kind = audit::record::Kind::kRequest;
  request.notes.leniencies = {leniency_name(envelope::Leniency::kMissingReplyToken)};
  for (const char* type : {"LEAGUE_REGISTER_REQUEST", "LEAGUE_QUERY", "MATCH_RESULT_REPORT"}) {
    request.notes.message_type = type;
    request.notes.verdict = ErrorCode::kAuthTokenInvalid;
    records.on_record(request);
    request.notes.verdict.reset();
    records.on_record(request);
  }
  EXPECT_EQ(records.report_of(kP01)["total_faults"], 0);
  EXPECT_EQ(records.report_of(kP01)["leniencies"], json::object());
  request.notes.said_by = "player:P01";  // its token was checked
  records.on_record(request);
  EXPECT_EQ(records.report_of(kP01)["leniencies"].size(), 1U);
  request.notes.peer = "player:P02";  // whatever the message claims
  request.notes.verdict = ErrorCode::kInvalidFieldValue;
  records.on_record(request);
  EXPECT_EQ(records.report_of(kP01)["total_faults"], 1);
  EXPECT_EQ(records.report_of(kP02)["total_faults"], 0);
  for (const char* peer : {"P01", "player:REF01", "referee:P01", "player:", "127.0.0.1:80", ""})
    records.on_record(answer_of(peer, milliseconds(1)));
  EXPECT_EQ(records.report_of(kP01)["latencies"]["count"], 0);
}

TEST(AgentRecords, AFloodOfFaultsTakesBoundedMemory) {
  AgentRecords records(kStart);
  for (int i = 0; i < 5000; ++i) {
    records.on_record(answer_of("player:P01", milliseconds(i < 4000 ? 100 : 2)));
    records.on_events({lost(kP01, {"GAME_INVITATION", "E001", 1, std::string(10'000, 'x')})});
  }
  const json own = records.report_of(kP01);
  EXPECT_EQ(own["total_faults"], 5000);
  EXPECT_EQ(own["faults"].size(), 50U);
  EXPECT_EQ(own["latencies"], (json{{"count", 5000}, {"median_ms", 2.0}, {"p99_ms", 2.0}}))
      << "the last answers";
  EXPECT_LT(own.dump().size(), 50'000U);
}

}  // namespace
}  // namespace league::league_manager::service
