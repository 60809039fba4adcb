#include "tools/check/report.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/agent/identity/match_credential.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

Report report_with_failure() {
  Report report;
  report.subject = "bot <b> at http://localhost:1/mcp";
  report.secrets = {"tok_p07_secretsecretsecret"};
  report.credentials = {{"0123456789abcdef", "R1M1#1"}};
  Finding finding;
  finding.info = {.id = "P-4.9/parity-choice-lower-case",
                  .level = Level::kMust,
                  .text = "exactly even or odd",
                  .fix = "Send it in lower case."};
  finding.verdict = fail({.url = "http://localhost:1/mcp",
                          .sent = R"({"auth_token":"0123456789abcdef","it's":1})",
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
  EXPECT_EQ(report.level_text(), "none (it does not play yet)");
  report.findings.push_back({.info = {.id = "P-1/late"}, .verdict = skip(std::string(kNoTime))});
  EXPECT_EQ(report.level_text(), "none (it does not play yet) (not tried for lack of time: 1)");
  EXPECT_EQ(json::parse(json_report({report}))["bots"][0]["not_tried"], 1);
  // Otherwise a bot that answers slowly would get full marks for a few checks.
  const json untried = json::parse(gradescope_report(report))["tests"].back();
  EXPECT_EQ(untried["score"], 0);
  EXPECT_EQ(untried["max_score"], 2);
}

/// A failed check.
Finding failed(const std::string& id, Level level, const std::string& fix, bool is_basic = false) {
  Finding finding;
  finding.info = {.id = id, .level = level, .text = "rule of " + id, .fix = fix};
  finding.info.is_basic = is_basic;
  finding.verdict = fail({.url = "http://localhost:1/mcp", .sent = "{}", .received = "{}"}, "/x",
                         "right", "wrong");
  return finding;
}

TEST(Report, TellsWhatMattersFirstAndEachCauseOnce) {
  Report report;
  report.findings = {failed("P-6/join-quick", Level::kShould, "be quick"),
                     failed("P-5/deep-json", Level::kRobust, "limit the depth"),
                     failed("P-2/join-sender", Level::kMust, "name the sender"),
                     failed("P-2/choice-sender", Level::kMust, "name the sender"),
                     failed("P-1/large-id", Level::kRobust, "guess"),
                     failed("P-1/join-id-echoed", Level::kMust, "copy the id"),
                     failed("P-4.7/join-accepts", Level::kMust, "accept", true)};
  report.findings.push_back({.info = {.id = "P-1/a"}, .verdict = skip("there is no time")});
  report.findings.push_back({.info = {.id = "P-1/b"}, .verdict = skip("there is no time")});
  const std::string text = text_report(report);
  EXPECT_LT(text.find("level       none"), text.find("FAILED"));
  EXPECT_NE(text.find("1. accept (P-4.7/join-accepts, MUST)\n  2. name the sender "
                      "(P-2/join-sender, MUST)\n  3. copy the id (P-1/join-id-echoed, MUST)\n\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("also      P-2/choice-sender"), std::string::npos);
  EXPECT_EQ(text.find("FAILED P-2/choice-sender"), std::string::npos);
  EXPECT_EQ(text.find("guess"), std::string::npos) << "the same cause as id-echoed";
  EXPECT_LT(text.find("FAILED P-5/deep-json"), text.find("FAILED P-6/join-quick"));
  EXPECT_NE(text.find("2 checks: there is no time"), std::string::npos);
  EXPECT_EQ(text.find("P-1/a"), std::string::npos);
  EXPECT_EQ(text.find("curl -sS"), std::string::npos);
  const std::string whole = text_report(report, true);
  EXPECT_NE(whole.find("curl -sS"), std::string::npos);
  EXPECT_NE(whole.find("P-1/a"), std::string::npos);
  const std::string page = html_report({report});
  EXPECT_LT(page.find("P-4.7/join-accepts"), page.find("P-6/join-quick"));
  EXPECT_NE(page.find("<details open>"), std::string::npos);
}

TEST(Report, APartOfTheChecksDecidesNoLevel) {
  Report report = report_with_failure();
  report.is_partial = true;
  EXPECT_NE(text_report(report).find("level       not decided"), std::string::npos);
}

TEST(Report, NamesWhatALevelDoesNotShow) {
  Report report;
  Finding basic = failed("P-4.7/join-accepts", Level::kMust, "accept", true);
  basic.verdict = pass();
  report.findings = {basic, failed("P-6/join-quick", Level::kShould, "be quick")};
  EXPECT_EQ(report.level_text(), "robust, 1 SHOULD failed");
}

TEST(Report, AllBotsCanGetTheSamePoints) {
  Report report;
  Finding blocked = failed("P-2/a", Level::kMust, "a");
  blocked.verdict = skip_blocked("the bot does not play");
  Finding foreign = failed("P-2/b", Level::kMust, "b");
  foreign.verdict = skip("the bot gives no receipts");
  Finding broken = failed("P-2/c", Level::kMust, "c");
  broken.verdict = harness_fault("out of memory");
  report.findings = {blocked, foreign, broken};
  const json tests = json::parse(gradescope_report(report))["tests"];
  ASSERT_EQ(tests.size(), 3U);
  EXPECT_EQ(tests[0]["score"], 0);
  EXPECT_EQ(tests[1]["score"], 2);
  EXPECT_EQ(tests[2]["score"], 2) << "the checker's own fault";
}

TEST(Report, BackticksOfAPageAreCode) {
  Report report = report_with_failure();
  report.findings[0].info.text = "`accept` is <true>";
  const std::string page = html_report({report});
  EXPECT_NE(page.find("<code>accept</code> is &lt;true&gt;"), std::string::npos);
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
  const std::string line = repeat_line(report.findings[0].verdict.exchange, report);
  EXPECT_NE(line.find("curl "), std::string::npos);
  EXPECT_NE(line.find("it'\\''s"), std::string::npos);
}

/// What a shell makes of the line's request, where `curl` prints its body.
std::string repeated(const Report& report, const std::string& setting) {
  const std::string line = repeat_line(report.findings[0].verdict.exchange, report);
  const std::string script = setting + "curl() { printf %s \"$5\"; }\n" + line;
  const auto quoted = [](std::string text) {
    for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
      text.replace(at, 1, "'\\''");
    return "'" + text + "'";
  };
  const auto close = [](FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> shell(
      popen(("sh -c " + quoted(script) + " 2>&1").c_str(), "r"), close);
  std::string out;
  for (int c = std::fgetc(shell.get()); c != EOF; c = std::fgetc(shell.get()))
    out += static_cast<char>(c);
  return out;
}

TEST(Report, TheLineThatRepeatsTheRequestTakesTheTokenFromItsReader) {
  Report report = report_with_failure();
  auto& sent = report.findings[0].verdict.exchange.sent;
  const std::string secret = report.secrets[0];
  sent = R"({"auth_token":")" + secret + R"(","note":"it's"})";
  EXPECT_EQ(repeated(report, "TOKEN=" + secret + "\n"), sent);
  EXPECT_NE(repeated(report, "").find("set it to the auth_token that your player got"),
            std::string::npos);
  sent = R"({"auth_token":"00000000"})";
  EXPECT_EQ(repeated(report, ""), sent) << "a token that the checker made up";
}

TEST(Report, TheLineThatRepeatsTheRequestComputesTheMatchCredential) {
  Report report = report_with_failure();
  auto& sent = report.findings[0].verdict.exchange.sent;
  const auto credential = agent::identity::match_credential(core::AuthToken(report.secrets[0]),
                                                            core::MatchId("R1M1"), 1);
  report.credentials = {{credential.reveal(), "R1M1#1"}};
  sent = R"({"auth_token":")" + credential.reveal() + R"("})";
  if (std::system("openssl version >/dev/null 2>&1") != 0) GTEST_SKIP() << "openssl is missing";
  EXPECT_EQ(repeated(report, "TOKEN=" + report.secrets[0] + "\n"), sent);
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
