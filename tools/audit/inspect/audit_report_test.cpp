#include "tools/audit/inspect/audit_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

audit::log::LogEntry request(const std::string& raw) {
  audit::log::LogEntry entry;
  entry.kind = "request";
  entry.raw = raw;
  return entry;
}

TEST(AuditBody, AMessageIsFoundWhereItSitsAndSaysSo) {
  struct Case {
    const char* raw;
    const char* way;
  };
  const Case cases[] = {
      {R"({"id":1,"method":"choose_parity","params":{"match_id":"R1M1"}})", "choose_parity"},
      {R"({"id":1,"method":"handle_message","params":{"message":{"match_id":"R1M1"}}})",
       "handle_message, params.message"},
      {R"({"method":"tools/call","params":{"name":"x","arguments":{"match_id":"R1M1"}}})",
       "tools/call x, params.arguments"},
      {R"({"id":1,"result":{"match_id":"R1M1"}})", "result"},
      {R"({"id":1,"result":{"response":{"match_id":"R1M1"}}})", "result.response"},
      {R"({"result":{"content":[{"type":"text","text":"{\"match_id\":\"R1M1\"}"}]}})",
       "result.content[0].text"},
      {R"({"match_id":"R1M1"})", "bare body"},
      {R"({"params":{"match_id":"R1M1"}})", "no method"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(way_of(request(one.raw)), one.way);
    EXPECT_EQ(message_of(request(one.raw))["match_id"], "R1M1") << one.raw;
  }
  EXPECT_EQ(way_of(request(R"({"error":{"code":-32601,"message":"no"}})")), "error -32601");
  auto refused = request(R"({"detail":"field required"})");
  refused.http_status = 422;
  EXPECT_EQ(way_of(refused), "bare body, HTTP 422");
  EXPECT_EQ(way_of(request("<html>")), "no JSON object");
}

TEST(AuditReport, TheSameFaultIsSaidOnceWithACount) {
  AgentReport report;
  report.sender = "player:P01";
  auto fault = [&](const char* match, const char* type, const char* code, const char* text) {
    report.faults.push_back({{}, match, "", type, code, text});
  };
  fault("R1M1", "A", "E009", "port 4711");
  fault("R1M1", "A", "E004", "Even");
  fault("R2M1", "A", "E009", "port 9");
  fault("R2M1", "B", "E009", "port 9");
  report.losses = {{{}, "R1M1", "", "late by 12 ms"}, {{}, "R2M1", "", "late by 7 ms"}};
  auto distinct = distinct_faults(report);
  ASSERT_EQ(distinct.size(), 3U);
  EXPECT_EQ(distinct[0].first.text, "port 4711");
  EXPECT_EQ(distinct[0].count, 2U);
  EXPECT_EQ(distinct[1].first.code, "E004");
  EXPECT_EQ(distinct[2].count, 1U);
  std::ostringstream out;
  print_report(report, {}, Paint(false), out);
  EXPECT_NE(out.str().find("fault E009  2 times, first"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("2 times, in R1M1, R2M1: late by 12 ms"), std::string::npos);
}

}  // namespace
}  // namespace league::tools::auditor
