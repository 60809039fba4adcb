#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/schema/fields.h"
#include "tools/check/report.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

std::string dumped(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

json finding_json(const Finding& finding, const Report& report) {
  const CheckInfo& info = finding.info;
  const Verdict& verdict = finding.verdict;
  const Exchange& exchange = verdict.exchange;
  const auto shown = [&](const std::string& text) { return masked(text, report.secrets, 8000); };
  return schema::object_to_json([&](schema::Fields& a) {
    a.defaulted("id", info.id, "clause", info.clause(), "clause_text", clause_text(info.clause()),
                "level", level_name(info.level), "outcome", outcome_name(verdict.outcome), "text",
                info.text, "milliseconds", finding.took.count() / 1'000'000);
    a.flag("basic", info.is_basic);
    if (verdict.outcome == Outcome::kPassed) return;
    a.required("got", masked(verdict.got, report.secrets));
    a.flag("in_baseline", finding.is_known);
    if (verdict.outcome == Outcome::kSkipped) return;
    a.defaulted("expected", masked(verdict.expected, report.secrets), "pointer", verdict.pointer,
                "sent", shown(exchange.sent), "received", shown(exchange.received));
    a.unless("http_status", exchange.status, 0);
    a.required("repeat", repeat_line(exchange, report));
    a.filled("content_type", exchange.content_type);
    a.defaulted("fix", fix_of(finding), "cause", cause_of(finding));
  });
}

std::string failure_text(const Finding& finding, const Report& report) {
  return finding.info.text + "\nexpected: " + masked(finding.verdict.expected, report.secrets) +
         "\ngot: " + masked(finding.verdict.got, report.secrets) +
         "\nat: " + finding.verdict.pointer +
         "\nsent: " + masked(finding.verdict.exchange.sent, report.secrets) +
         "\nreceived: " + masked(finding.verdict.exchange.received, report.secrets) +
         "\nfix: " + fix_of(finding);
}

std::string xml_text(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return (c < 32 && c != '\n' && c != '\t') || c >= 127; }, '?');
  return core::escape_markup(text);
}

std::string test_output(const Finding& finding, const Report& report) {
  switch (finding.verdict.outcome) {
    case Outcome::kPassed:
      return finding.info.text;
    case Outcome::kSkipped:
    case Outcome::kHarness:
      return finding.info.text + " Not tried: " + masked(finding.verdict.got, report.secrets) + ".";
    default:
      return failure_text(finding, report);
  }
}

/// The points of a check for Gradescope: a MUST counts twice.
int points_of(const Finding& finding) { return finding.info.level == Level::kMust ? 2 : 1; }

}  // namespace

std::string json_report(const std::vector<Report>& reports) {
  json bots = json::array();
  for (const Report& report : reports) {
    json findings = json::array();
    for (const Finding& finding : report.findings)
      findings.push_back(finding_json(finding, report));
    json counts;
    for (Outcome outcome : {Outcome::kPassed, Outcome::kFailed, Outcome::kFlaky, Outcome::kSkipped,
                            Outcome::kHarness})
      counts[std::string(outcome_name(outcome))] = report.count(outcome);
    bots.push_back({{"subject", report.subject},
                    {"role", report.role},
                    {"level", report.is_partial ? "not decided" : grade_name(report.grade())},
                    {"counts", counts},
                    {"not_tried", report.not_tried()},
                    {"dialect", report.ways},
                    {"leniencies", report.leniencies},
                    {"stale_baseline_entries", report.stale},
                    {"milliseconds", report.took.count()},
                    {"checks", findings}});
  }
  return dumped({{"requirements", kRequirementSet}, {"bots", bots}}, 1) + "\n";
}

std::string junit_report(const std::vector<Report>& reports) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const Report& report : reports) {
    const std::size_t failures = report.count(Outcome::kFailed);
    out += "<testsuite name=\"" + xml_text(report.subject) + "\" tests=\"" +
           std::to_string(report.findings.size()) + "\" failures=\"" + std::to_string(failures) +
           "\" errors=\"" + std::to_string(report.count(Outcome::kHarness)) + "\" skipped=\"" +
           std::to_string(report.count(Outcome::kSkipped)) + "\">\n";
    for (const Finding& finding : report.findings) {
      const double seconds = static_cast<double>(finding.took.count()) / 1e9;
      out += "<testcase classname=\"" + std::string(level_name(finding.info.level)) + "\" name=\"" +
             xml_text(finding.info.id) + "\" time=\"" + std::to_string(seconds) + "\">";
      const std::string message = xml_text(masked(finding.verdict.got, report.secrets, 300));
      if (finding.verdict.outcome == Outcome::kFailed)
        out += "<failure message=\"" + message + "\">" + xml_text(failure_text(finding, report)) +
               "</failure>";
      if (finding.verdict.outcome == Outcome::kHarness)
        out += "<error message=\"" + message + "\"/>";
      if (finding.verdict.outcome == Outcome::kSkipped)
        out += "<skipped message=\"" + message + "\"/>";
      if (finding.verdict.outcome == Outcome::kFlaky)
        out += "<system-out>flaky: " + message + "</system-out>";
      out += "</testcase>\n";
    }
    out += "</testsuite>\n";
  }
  return out + "</testsuites>\n";
}

std::string gradescope_report(const Report& report) {
  json tests = json::array();
  for (const Finding& finding : report.findings) {
    const Outcome outcome = finding.verdict.outcome;
    const bool is_untried = finding.verdict.is_untried();
    // Every check is in every report, so that all bots can get the same points. What does not apply
    // to a bot, and what the checker could not do, costs it nothing.
    const bool is_free =
        outcome == Outcome::kHarness ||
        (outcome == Outcome::kSkipped && !is_untried && !finding.verdict.is_blocked);
    const bool has_passed = outcome == Outcome::kPassed || finding.is_known || is_free;
    const int points = points_of(finding);
    tests.push_back(
        {{"name", finding.info.id + " (" + std::string(level_name(finding.info.level)) + ")"},
         {"score", has_passed ? points : 0},
         {"max_score", points},
         {"status", has_passed ? "passed" : "failed"},
         {"output", test_output(finding, report)},
         {"visibility", "visible"}});
  }
  const json out = {{"output", "level: " + report.level_text()},
                    {"execution_time", report.took.count() / 1000},
                    {"stdout_visibility", "visible"},
                    {"tests", tests}};
  return dumped(out, 1) + "\n";
}

}  // namespace league::tools::check
