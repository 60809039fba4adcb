#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/result.h"
#include "tools/check/verdict.h"

namespace league::tools::check {

/// What failed for the same reason: the first is the most important one.
struct FailedCause {
  std::string cause;
  std::vector<const Finding*> findings;
  /// The ids of all but the first finding, for people; empty: there is only one.
  [[nodiscard]] std::string others() const;
};
/// How many causes the top of a report names.
inline constexpr std::size_t kFirstFixes = 3;

/// The report on one bot.
struct Report {
  std::string subject;  ///< its endpoint, or the name that it registered with
  std::string role = "player";
  std::vector<Finding> findings;
  std::set<std::string> ways;  ///< the dialects in which it was called
  std::set<std::string> leniencies;  ///< leniencies that the bot needs
  std::vector<std::string> secrets;  ///< texts that must not be shown
  /// Match credentials that the checker showed, each with the text of which it is the HMAC.
  std::map<std::string, std::string> credentials;
  std::vector<std::string> stale;  ///< entries of the baseline that do not fail any more
  std::chrono::milliseconds took{0};
  bool is_partial = false;  ///< only some checks were selected, so there is no level

  [[nodiscard]] Grade grade() const { return grade_of(findings); }
  [[nodiscard]] std::size_t count(Outcome outcome) const;
  /// The number of checks that were skipped for lack of time; they count against the level.
  [[nodiscard]] std::size_t not_tried() const;
  /// What failed or was flaky, the most important first: basic checks, MUST, ROBUST, SHOULD.
  /// Refers to `findings`.
  [[nodiscard]] std::vector<FailedCause> failed_causes() const;
  /// The level in words, with the numbers of SHOULD that failed and of checks that were not tried.
  [[nodiscard]] std::string level_text() const;
};

/// `text` with every secret and the value of every `auth_token` cut to 8 characters. At most
/// `limit` bytes, followed by a note on the full size if it was longer.
[[nodiscard]] std::string masked(const std::string& text, const std::vector<std::string>& secrets,
                                 std::size_t limit = 1500);
/// A shell command that repeats the request, or the reason why there is none. The command takes
/// secrets from the variable TOKEN and says how to set it.
[[nodiscard]] std::string repeat_line(const Exchange& exchange, const Report& report);

// The formats. Each is a whole document.
/// `is_verbose`: with requests, answers, curl lines and the ids of skipped checks.
[[nodiscard]] std::string text_report(const Report& report, bool is_verbose = false);
[[nodiscard]] std::string json_report(const std::vector<Report>& reports);
[[nodiscard]] std::string junit_report(const std::vector<Report>& reports);
/// A self-contained page, with a matrix if there are several bots.
[[nodiscard]] std::string html_report(const std::vector<Report>& reports);
/// `results.json` of Gradescope: one test per check.
[[nodiscard]] std::string gradescope_report(const Report& report);

/// The ids of checks that are known to fail: one per line, `#` begins a comment. An empty `file` is
/// an empty baseline. Fails if the file cannot be read.
[[nodiscard]] core::Result<std::set<std::string>> read_baseline(const std::string& file);

/// Marks failures that are in `known`, and lists as stale the entries of `known` that did not fail.
void apply_baseline(const std::set<std::string>& known, Report& report);

/// The sentence of docs/protocol.md that a clause stands for; empty for an unknown one. The table
/// in clauses.cpp is the only link between checks and the document. The set of clauses is frozen
/// for a version of the protocol.
[[nodiscard]] std::string_view clause_text(std::string_view clause);

/// The version of the protocol whose requirements are checked.
inline constexpr std::string_view kRequirementSet = "2.1.0";

}  // namespace league::tools::check
