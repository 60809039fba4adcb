#include "tools/check/verdict.h"

#include <algorithm>
#include <array>

namespace league::tools::check {

std::string_view level_name(Level level) {
  constexpr std::array<std::string_view, 3> kLevels{"MUST", "SHOULD", "ROBUST"};
  return kLevels.at(static_cast<std::size_t>(level));
}

std::string_view outcome_name(Outcome outcome) {
  constexpr std::array<std::string_view, 5> kOutcomes{"passed", "failed", "flaky", "skipped",
                                                      "harness"};
  return kOutcomes.at(static_cast<std::size_t>(outcome));
}

std::string_view grade_name(Grade grade) {
  constexpr std::array<std::string_view, 4> kGrades{"none", "plays", "conforms", "robust"};
  return kGrades.at(static_cast<std::size_t>(grade));
}

Verdict pass() { return {}; }

Verdict skip(std::string reason) {
  return {.outcome = Outcome::kSkipped, .got = std::move(reason)};
}

Verdict skip_blocked(std::string reason) {
  return {.outcome = Outcome::kSkipped, .got = std::move(reason), .is_blocked = true};
}

Verdict fail(Exchange exchange, std::string pointer, std::string expected, std::string got) {
  return {.outcome = Outcome::kFailed,
          .got = std::move(got),
          .expected = std::move(expected),
          .pointer = std::move(pointer),
          .exchange = std::move(exchange)};
}

Verdict expect(bool is_right, Exchange exchange, std::string pointer, std::string expected,
               std::string got) {
  if (is_right) return pass();
  return fail(std::move(exchange), std::move(pointer), std::move(expected), std::move(got));
}

Verdict harness_fault(std::string what) {
  return {.outcome = Outcome::kHarness, .got = std::move(what)};
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
