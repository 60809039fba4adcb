#include "tools/league/check/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::tools::check {
namespace {

using nlohmann::json;

Report report_with_failure() {
  Report report;
  report.subject = "bot <b> at http://localhost:1/mcp";
  report.secrets = {"tok_p07_secretsecretsecret"};
  Finding finding;
  finding.info = {.id = "P-4.9/parity-choice-lower-case",
                  .level = Level::kMust,
                  .text = "exactly even or odd",
                  .fix = "Send it in lower case."};
  finding.verdict = fail({.url = "http://localhost:1/mcp",
                          .sent = R"({"auth_token": "0123456789abcdef","it's":1})",
                          .received = R"({"x":"tok_p07_secretsecretsecret <i>"})"},
                         "/result/parity_choice", "\"even\" or \"odd\"", "\"Even\"");
  report.findings.push_back(finding);
  return report;
}

TEST(Report, NoFormatShowsATokenWhole) {
  const Report report = report_with_failure();
  for (const std::string& text :
       {text_report(report), json_report({report}), junit_report({report}), html_report({report}),
        gradescope_report(report)}) {
    EXPECT_EQ(text.find("tok_p07_secretsecretsecret"), std::string::npos) << text;
    EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos) << text;
    EXPECT_NE(text.find("P-4.9/parity-choice-lower-case"), std::string::npos);
    EXPECT_NE(text.find("lower case"), std::string::npos);
  }
}

TEST(Report, SaysHowManyChecksThereWasNoTimeFor) {
  Report report = report_with_failure();
  EXPECT_EQ(report.level_text(), "none");
  report.findings.push_back({.info = {.id = "P-1/late"}, .verdict = skip(std::string(kNoTime))});
  EXPECT_EQ(report.level_text(), "none (not tried for lack of time: 1)");
  EXPECT_EQ(json::parse(json_report({report}))["bots"][0]["not_tried"], 1);
}

TEST(Report, ATokenThatWasCutIsMaskedToo) {
  Report report = report_with_failure();
  const std::string unknown = R"({"auth_token":"fedcba9876543210...)";
  report.findings[0].verdict.got = unknown;
  EXPECT_EQ(text_report(report).find("fedcba987"), std::string::npos);
  report.findings[0].verdict.got = "the token was tok_p07_secrets...";
  EXPECT_EQ(text_report(report).find("tok_p07_s"), std::string::npos);
  report.findings[0].verdict.got = R"({"auth_token":"fedcba98..."})";
  EXPECT_NE(text_report(report).find("fedcba98..."), std::string::npos) << "masked once";
}

TEST(Report, TheLineThatRepeatsTheRequestIsSafeForAShell) {
  const Report report = report_with_failure();
  const std::string line = repeat_line(report.findings[0].verdict.exchange, report.secrets);
  EXPECT_TRUE(line.starts_with("curl "));
  EXPECT_NE(line.find("it'\\''s"), std::string::npos);
}

TEST(Report, APageHoldsNothingThatABotWrote) {
  const std::string page = html_report({report_with_failure(), report_with_failure()});
  EXPECT_EQ(page.find("<i>"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos) << "the page needs no network";
}

TEST(Report, JsonAndGradescopeAreJson) {
  const Report report = report_with_failure();
  const json whole = json::parse(json_report({report}));
  EXPECT_EQ(whole["bots"][0]["checks"][0]["outcome"], "failed");
  EXPECT_EQ(whole["bots"][0]["level"], "none");
  const json scores = json::parse(gradescope_report(report));
  EXPECT_EQ(scores["tests"][0]["score"], 0);
  EXPECT_EQ(scores["tests"][0]["max_score"], 2);
}

TEST(Report, BytesThatAreNoTextBreakNoFormat) {
  Report report = report_with_failure();
  report.findings[0].verdict.exchange.received = "\xff\xfe\x01<&>";
  EXPECT_TRUE(json::accept(json_report({report})));
  EXPECT_EQ(junit_report({report}).find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace league::tools::check
