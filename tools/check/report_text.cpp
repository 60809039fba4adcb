#include <algorithm>
#include <sstream>
#include <tuple>

#include "common/core/auth_token.h"
#include "common/core/text.h"
#include "tools/check/report.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using core::replaced;

/// The size of a masked token: its first eight characters and three dots.
constexpr std::size_t kMaskedSize = 11;

/// Masks a beginning of `secret` at the end of a text that was cut off.
std::string without_cut(std::string text, const std::string& secret) {
  constexpr std::string_view kCut = "...";
  if (!text.ends_with(kCut)) return text;
  const std::string_view whole = std::string_view(text).substr(0, text.size() - kCut.size());
  for (std::size_t size = std::min(secret.size(), whole.size()); size > 8; --size) {
    if (whole.ends_with(std::string_view(secret).substr(0, size)))
      return text.substr(0, whole.size() - size) + core::mask_token(secret);
  }
  return text;
}

/// Masks the values of `"auth_token":"..."`.
std::string without_tokens(const std::string& text) {
  static const std::string kKey = "\"auth_token\"";
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t key = text.find(kKey, at);
    if (key == std::string::npos) break;
    const std::size_t open = text.find_first_not_of(" :\t\n", key + kKey.size());
    if (open == std::string::npos || text[open] != '"') {
      out += text.substr(at, key + kKey.size() - at);
      at = key + kKey.size();
      continue;
    }
    const std::size_t close = std::min(text.find('"', open + 1), text.size());
    const std::string value = text.substr(open + 1, close - open - 1);
    out += text.substr(at, open + 1 - at);
    const bool is_masked = value.ends_with("...") && value.size() <= kMaskedSize;
    out += is_masked ? value : core::mask_token(value);
    at = close;
  }
  return out + text.substr(at);
}

std::string quoted_for_shell(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

/// `quoted`, a text in single quotes, with secrets replaced by expansions of TOKEN.
std::string with_token(std::string quoted, const Report& report) {
  static const std::string kKey = "\"auth_token\":\"";
  if (const std::size_t key = quoted.find(kKey); key != std::string::npos) {
    const std::size_t begin = key + kKey.size();
    const std::size_t size = quoted.find('"', begin) - begin;
    const auto shown = report.credentials.find(quoted.substr(begin, size));
    if (shown != report.credentials.end())
      quoted.replace(begin, size,
                     "'\"$(printf %s " + quoted_for_shell(shown->second) +
                         " | openssl dgst -sha256 -hmac \"$TOKEN\" -r | cut -c1-64)\"'");
  }
  for (const std::string& secret : report.secrets) {
    if (secret.size() > 8) quoted = replaced(std::move(quoted), secret, "'\"$TOKEN\"'");
  }
  return quoted;
}

/// Whether a finding is told as a failure.
bool is_told(const Finding& finding) {
  return finding.verdict.outcome == Outcome::kFailed || finding.verdict.outcome == Outcome::kFlaky;
}

void write_failure(std::ostream& out, const FailedCause& cause, const Report& report,
                   bool is_verbose) {
  const Finding& finding = *cause.findings.front();
  const Verdict& verdict = finding.verdict;
  const std::string clause = finding.info.clause();
  out << "\n"
      << (verdict.outcome == Outcome::kFlaky ? "FLAKY " : "FAILED ") << finding.info.id << "  "
      << level_name(finding.info.level) << (finding.is_known ? "  (in the baseline)" : "") << '\n';
  const auto show = [&](const char* title, const std::string& text) {
    if (text.empty()) return;
    std::string shown;
    std::istringstream lines(masked(text, report.secrets));
    for (std::string line; std::getline(lines, line);)
      shown += (shown.empty() ? "" : "\n            ") + safe_text(line);
    out << "  " << title << shown << '\n';
  };
  show("rule      ", finding.info.text);
  show("clause    ", clause + ": " + std::string(clause_text(clause)));
  show("at        ", verdict.pointer);
  show("expected  ", verdict.expected);
  show("got       ", verdict.got);
  show("fix       ", fix_of(finding));
  show("also      ", cause.others());
  if (!is_verbose) return;
  show("sent      ", replaced(verdict.exchange.sent, "\r\n", "\\r\\n"));
  show("received  ", verdict.exchange.received);
  if (const std::string line = repeat_line(verdict.exchange, report); !line.empty())
    out << "  repeat    " << safe_text(line) << '\n';
}

void write_skipped(std::ostream& out, const Report& report, bool is_verbose) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // as they occurred
  for (const Finding& finding : report.findings) {
    if (finding.verdict.outcome != Outcome::kSkipped) continue;
    const std::string& reason = finding.verdict.got;
    auto found = std::ranges::find(reasons, reason,
                                   &std::pair<std::string, std::vector<std::string>>::first);
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {reason, {}});
    found->second.push_back(finding.info.id);
  }
  if (!reasons.empty()) out << '\n';
  for (const auto& [reason, ids] : reasons) {
    out << "skipped     " << ids.size() << (ids.size() == 1 ? " check" : " checks") << ": "
        << safe_text(reason) << '\n';
    if (!is_verbose) continue;
    for (const std::string& id : ids) out << "            " << id << '\n';
  }
}

/// Level and first fixes: what a reader needs first.
void write_head(std::ostream& out, const Report& report, const std::vector<FailedCause>& causes) {
  out << "league check of " << safe_text(report.subject) << " as " << report.role
      << ", requirements of protocol " << kRequirementSet << "\n\nlevel       "
      << report.level_text() << '\n';
  for (std::size_t i = 0; i < causes.size() && i < kFirstFixes; ++i) {
    const Finding& finding = *causes[i].findings.front();
    if (i == 0) out << "\nFix these first:\n";
    out << "  " << i + 1 << ". " << safe_text(fix_of(finding)) << " (" << finding.info.id << ", "
        << level_name(finding.info.level) << ")\n";
  }
}

/// A dialect, as CallStyle names it, for people.
std::string way_in_words(const std::string& way) {
  if (way == "tool_name") return "the protocol's method names";
  return safe_text(way) + " (a dialect)";
}

void write_dialect(std::ostream& out, const Report& report) {
  out << "\ncalled by   ";
  if (report.ways.empty()) out << "unknown: the bot answered no call";
  for (const std::string& way : report.ways) out << way_in_words(way) << ' ';
  out << "\nleniencies  ";
  if (report.leniencies.empty()) out << "none: a league in strict mode takes its answers, too";
  for (const std::string& name : report.leniencies) out << safe_text(name) << ' ';
  out << '\n';
}

void write_table(std::ostream& out, const Report& report) {
  out << "\n             MUST  SHOULD  ROBUST\n";
  for (Outcome outcome : {Outcome::kPassed, Outcome::kFailed, Outcome::kFlaky, Outcome::kSkipped,
                          Outcome::kHarness}) {
    out << fitted(std::string(outcome_name(outcome)), 11);
    for (Level level : {Level::kMust, Level::kShould, Level::kRobust}) {
      const auto count = std::ranges::count_if(report.findings, [&](const Finding& finding) {
        return finding.verdict.outcome == outcome && finding.info.level == level;
      });
      const std::string number = std::to_string(count);
      const std::size_t width = level == Level::kMust ? 6 : 8;
      out << std::string(width - std::min(width, number.size()), ' ') << number;
    }
    out << '\n';
  }
}

}  // namespace

std::string FailedCause::others() const {
  std::string ids;
  for (std::size_t i = 1; i < findings.size(); ++i)
    ids += (i == 1 ? "" : ", ") + findings[i]->info.id;
  return ids;
}

std::size_t Report::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      findings, [outcome](const Finding& f) { return f.verdict.outcome == outcome; }));
}

std::size_t Report::not_tried() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(findings, [](const Finding& f) { return f.verdict.is_untried(); }));
}

std::string Report::level_text() const {
  if (is_partial) return "not decided, because only a part of the checks was run";
  const Grade reached = grade();
  std::string text(reached == Grade::kNone ? "none (it does not play yet)" : grade_name(reached));
  const auto should = std::ranges::count_if(findings, [](const Finding& f) {
    return f.info.level == Level::kShould && f.verdict.outcome == Outcome::kFailed;
  });
  if (should > 0 && reached != Grade::kNone)
    text += ", " + std::to_string(should) + " SHOULD failed";
  if (const auto count = not_tried(); count > 0)
    text += " (not tried for lack of time: " + std::to_string(count) + ")";
  return text;
}

std::vector<FailedCause> Report::failed_causes() const {
  std::vector<FailedCause> causes;
  for (const Finding& finding : findings) {
    if (!is_told(finding)) continue;
    const std::string cause = cause_of(finding);
    auto found = std::ranges::find(causes, cause, &FailedCause::cause);
    if (found == causes.end()) found = causes.insert(causes.end(), {cause, {}});
    found->findings.push_back(&finding);
  }
  const auto rank = [](const FailedCause& cause) {
    const Finding& first = *cause.findings.front();
    return std::tuple(first.verdict.outcome == Outcome::kFlaky, !first.info.is_basic,
                      first.info.level == Level::kRobust ? 1
                      : first.info.level == Level::kMust ? 0
                                                         : 2);
  };
  for (FailedCause& cause : causes) {
    std::ranges::stable_sort(cause.findings, {},
                             [](const Finding* one) { return one->info.level; });
  }
  std::ranges::stable_sort(causes, {}, rank);
  return causes;
}

std::string masked(const std::string& text, const std::vector<std::string>& secrets,
                   std::size_t limit) {
  std::string out = text;
  for (const std::string& secret : secrets) {
    if (secret.size() <= 8) continue;
    out = without_cut(replaced(std::move(out), secret, core::mask_token(secret)), secret);
  }
  out = without_tokens(out);
  if (out.size() <= limit) return out;
  return out.substr(0, limit) + "... (" + std::to_string(out.size()) + " bytes)";
}

std::string repeat_line(const Exchange& exchange, const Report& report) {
  constexpr std::size_t kLongest = 4000;
  if (exchange.url.empty() || exchange.sent.empty()) return {};
  const bool is_web = exchange.url.starts_with("http://") || exchange.url.starts_with("https://");
  if (exchange.is_raw || !is_web) return {};
  if (exchange.sent.size() > kLongest) return "(the request is too long for a command line)";
  if (safe_text(exchange.sent) != exchange.sent)
    return "(the request has characters that a command line cannot hold)";
  const std::string quoted = quoted_for_shell(exchange.sent);
  const std::string body = with_token(quoted, report);
  std::string line;
  if (body != quoted)
    line = std::string(": \"${TOKEN:?set it to the auth_token that ") +
           (report.role == "manager" ? "the manager gave to the sender of this message"
                                     : "your " + report.role + " got when it registered") +
           "}\"; ";
  return line + "curl -sS -H 'Content-Type: application/json' --data-binary " + body + " " +
         quoted_for_shell(exchange.url);
}

std::string text_report(const Report& report, bool is_verbose) {
  std::ostringstream out;
  const std::vector<FailedCause> causes = report.failed_causes();
  write_head(out, report, causes);
  for (const FailedCause& cause : causes) write_failure(out, cause, report, is_verbose);
  for (const Finding& finding : report.findings) {
    if (finding.verdict.outcome == Outcome::kHarness)
      out << "\nHARNESS " << finding.info.id << ": " << safe_text(finding.verdict.got) << '\n';
  }
  write_skipped(out, report, is_verbose);
  for (const std::string& id : report.stale)
    out << "\nSTALE " << safe_text(id) << " is in the baseline and does not fail any more\n";
  write_dialect(out, report);
  write_table(out, report);
  out << "\ntime        " << short_number(static_cast<double>(report.took.count()) / 1000.0)
      << " s, " << report.findings.size() << " checks\n";
  if (!causes.empty() && !is_verbose)
    out << "\nTo repeat one check, add --only ID to your command; --verbose shows requests, "
           "answers "
           "and curl lines.\n";
  return out.str();
}

}  // namespace league::tools::check
