#include "tools/check/verdict.h"

#include <algorithm>

namespace league::tools::check {

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kMust:
      return "MUST";
    case Level::kShould:
      return "SHOULD";
    case Level::kRobust:
      return "ROBUST";
  }
  return "";
}

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kFlaky:
      return "flaky";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kHarness:
      return "harness";
  }
  return "";
}

std::string_view grade_name(Grade grade) {
  switch (grade) {
    case Grade::kNone:
      return "none";
    case Grade::kPlays:
      return "plays";
    case Grade::kConforms:
      return "conforms";
    case Grade::kRobust:
      return "robust";
  }
  return "";
}

Verdict pass() { return {}; }

Verdict skip(std::string reason) {
  Verdict verdict;
  verdict.outcome = Outcome::kSkipped;
  verdict.got = std::move(reason);
  return verdict;
}

Verdict skip_blocked(std::string reason) {
  Verdict verdict = skip(std::move(reason));
  verdict.is_blocked = true;
  return verdict;
}

Verdict fail(Exchange exchange, std::string pointer, std::string expected, std::string got) {
  Verdict verdict;
  verdict.outcome = Outcome::kFailed;
  verdict.got = std::move(got);
  verdict.expected = std::move(expected);
  verdict.pointer = std::move(pointer);
  verdict.exchange = std::move(exchange);
  return verdict;
}

Verdict expect(bool is_right, Exchange exchange, std::string pointer, std::string expected,
               std::string got) {
  if (is_right) return pass();
  return fail(std::move(exchange), std::move(pointer), std::move(expected), std::move(got));
}

Verdict harness_fault(std::string what) {
  Verdict verdict;
  verdict.outcome = Outcome::kHarness;
  verdict.got = std::move(what);
  return verdict;
}

Verdict with_fix(Verdict verdict, std::string fix) {
  verdict.fix = std::move(fix);
  return verdict;
}

const std::string& fix_of(const Finding& finding) {
  return finding.verdict.fix.empty() ? finding.info.fix : finding.verdict.fix;
}

std::string cause_of(const Finding& finding) {
  if (!finding.verdict.cause.empty()) return finding.verdict.cause;
  const std::string& id = finding.info.id;
  for (const char* one : {"P-1/string-id", "P-1/large-id", "P-1/id-zero"}) {
    if (id == one) return "P-1/id-echoed";
  }
  // The same in both answers and in the registration.
  for (const char* message : {"join-", "choice-", "register-"}) {
    const std::size_t at = id.find('/') + 1;
    if (id.compare(at, std::string_view(message).size(), message) == 0)
      return id.substr(0, at) + id.substr(at + std::string_view(message).size());
  }
  return id;
}

bool Verdict::is_untried() const { return outcome == Outcome::kSkipped && got == kNoTime; }

Grade grade_of(const std::vector<Finding>& findings) {
  bool has_basic = false;
  bool plays = true;
  bool conforms = true;
  bool is_robust = true;
  for (const Finding& finding : findings) {
    const Outcome outcome = finding.verdict.outcome;
    const bool has_failed = outcome == Outcome::kFailed || finding.verdict.is_untried();
    if (finding.info.is_basic) {
      has_basic = has_basic || outcome == Outcome::kPassed || outcome == Outcome::kFlaky;
      plays = plays && !has_failed;
    }
    if (finding.info.level == Level::kMust) conforms = conforms && !has_failed;
    const bool is_doubtful =
        has_failed || outcome == Outcome::kFlaky || outcome == Outcome::kHarness;
    if (finding.info.level != Level::kShould) is_robust = is_robust && !is_doubtful;
  }
  if (!plays || !has_basic) return Grade::kNone;
  if (!conforms) return Grade::kPlays;
  return is_robust ? Grade::kRobust : Grade::kConforms;
}

}  // namespace league::tools::check
