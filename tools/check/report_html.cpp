#include <algorithm>
#include <map>

#include "common/core/text.h"
#include "tools/check/report.h"

namespace league::tools::check {
namespace {

std::string escaped(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 32 && c != '\n' && c != '\t'; }, '?');
  return core::escape_markup(text);
}

constexpr std::string_view kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem;"
    "color:#1b1b1b;background:#fff;overflow-wrap:anywhere}h1{font-size:1.4rem}h2{font-size:1.15rem;"
    "margin-top:2rem}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse}td,th{padding:.25rem .6rem;"
    "border-bottom:1px solid #ddd;text-align:left;vertical-align:top}td{white-space:nowrap}"
    "td:first-child{white-space:normal;min-width:8rem}"
    "th{min-width:6rem;max-width:14rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;padding:.5rem;"
    "font-size:.8rem;margin:.2rem 0}details{border:1px solid #ddd;border-radius:.4rem;"
    "padding:.4rem .7rem;margin:.5rem 0}summary{cursor:pointer;overflow-wrap:anywhere}"
    ".passed{color:#1a6b2f}.failed{color:#a11212;font-weight:600}.flaky,.harness{color:#8a5a00}"
    ".skipped{color:#666}dt{font-weight:600;margin-top:.4rem}dd{margin:0}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}pre{background:#242424}"
    ".passed{color:#7fd497}.failed{color:#ff8d8d}.flaky,.harness{color:#f0c060}"
    ".skipped{color:#aaa}}";

std::string outcome_cell(const Verdict& verdict) {
  const std::string name(outcome_name(verdict.outcome));
  return "<span class=\"" + name + "\">" + name + "</span>";
}

/// Text of a check, in which words between backticks are code.
std::string marked_up(const std::string& text) {
  std::string out;
  bool is_code = false;
  for (const char c : escaped(text)) {
    if (c != '`') {
      out += c;
      continue;
    }
    out += is_code ? "</code>" : "<code>";
    is_code = !is_code;
  }
  return is_code ? escaped(text) : out;
}

void write_entry(std::string& out, const char* title, const std::string& text, bool is_code) {
  if (text.empty()) return;
  const std::string shown = is_code ? escaped(text) : marked_up(text);
  out += std::string("<dt>") + title + "</dt><dd>" +
         (is_code ? "<pre>" + shown + "</pre>" : shown) + "</dd>";
}

void write_finding(std::string& out, const Finding& finding, const Report& report,
                   bool is_open = false, const std::string& also = {}) {
  const Verdict& verdict = finding.verdict;
  out += std::string(is_open ? "<details open><summary>" : "<details><summary>") +
         outcome_cell(verdict) + " <code>" + escaped(finding.info.id) + "</code> " +
         std::string(level_name(finding.info.level)) +
         (finding.is_known ? " (in the baseline)" : "") + " &ndash; " +
         marked_up(finding.info.text) + "</summary><dl>";
  write_entry(out, "Clause",
              finding.info.clause() + ": " + std::string(clause_text(finding.info.clause())),
              false);
  write_entry(out, "Fix", fix_of(finding), false);
  write_entry(out, "Expected", masked(verdict.expected, report.secrets), false);
  write_entry(out, "Got", masked(verdict.got, report.secrets), false);
  write_entry(out, "At", verdict.pointer, true);
  write_entry(out, "Also", also, false);
  write_entry(out, "Sent", masked(verdict.exchange.sent, report.secrets), true);
  write_entry(out, "Received", masked(verdict.exchange.received, report.secrets), true);
  write_entry(out, "Repeat", repeat_line(verdict.exchange, report), true);
  out += "</dl></details>\n";
}

std::string joined(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

void write_report(std::string& out, const Report& report) {
  out += "<h2>" + escaped(report.subject) + "</h2><p>Role " + escaped(report.role) +
         ", level <strong>" + report.level_text() +
         "</strong>: " + std::to_string(report.count(Outcome::kPassed)) + " passed, " +
         std::to_string(report.count(Outcome::kFailed)) + " failed, " +
         std::to_string(report.count(Outcome::kFlaky)) + " flaky, " +
         std::to_string(report.count(Outcome::kSkipped)) +
         " skipped. Dialect: " + escaped(joined(report.ways)) +
         ". Leniencies: " + escaped(joined(report.leniencies)) + ".</p>\n";
  std::size_t number = 0;
  for (const FailedCause& cause : report.failed_causes()) {
    write_finding(out, *cause.findings.front(), report, number++ < kFirstFixes, cause.others());
  }
  for (const Finding& finding : report.findings) {
    if (finding.verdict.outcome == Outcome::kHarness) write_finding(out, finding, report);
  }
  out += "<details><summary>All other checks</summary>\n";
  for (const Finding& finding : report.findings) {
    const Outcome outcome = finding.verdict.outcome;
    if (outcome == Outcome::kPassed || outcome == Outcome::kSkipped)
      write_finding(out, finding, report);
  }
  out += "</details>\n";
}

/// One row for each check that some bot fails, one column for each bot.
void write_matrix(std::string& out, const std::vector<Report>& reports) {
  out += "<h2>Matrix</h2><div class=\"scroll\"><table><thead><tr><th>Check</th>";
  for (const Report& report : reports) out += "<th>" + escaped(report.subject) + "</th>";
  out += "</tr></thead><tbody><tr><td>level</td>";
  for (const Report& report : reports)
    out += "<td>" + std::string(grade_name(report.grade())) + "</td>";
  out += "</tr>\n";
  std::map<std::string, std::vector<const Verdict*>> rows;
  for (std::size_t bot = 0; bot < reports.size(); ++bot) {
    for (const Finding& finding : reports[bot].findings) {
      auto& row = rows[finding.info.id];
      row.resize(reports.size());
      row[bot] = &finding.verdict;
    }
  }
  for (const auto& [id, row] : rows) {
    const auto is_kept = [](const Verdict* v) {
      return v == nullptr || v->passed() || v->outcome == Outcome::kSkipped;
    };
    if (std::ranges::all_of(row, is_kept)) continue;
    out += "<tr><td><code>" + escaped(id) + "</code></td>";
    for (const Verdict* verdict : row)
      out +=
          "<td>" + (verdict == nullptr ? std::string("&ndash;") : outcome_cell(*verdict)) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

}  // namespace

std::string html_report(const std::vector<Report>& reports) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\"><title>league check</title><style>" +
      std::string(kStyle) +
      "</style></head><body>\n<h1>league check</h1><p>Requirements of protocol " +
      std::string(kRequirementSet) + ".</p>\n";
  if (reports.size() > 1) write_matrix(out, reports);
  for (const Report& report : reports) write_report(out, report);
  return out + "</body></html>\n";
}

}  // namespace league::tools::check
