#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/check/verdict.h"

namespace league::tools::check {

/// What is said of one bot.
struct Report {
  std::string subject;  ///< its endpoint, or the name that it registered with
  std::string role = "player";
  std::vector<Finding> findings;
  std::set<std::string> ways;  ///< how it was called
  std::set<std::string> leniencies;  ///< what a league has to overlook
  std::vector<std::string> secrets;  ///< not to be shown
  /// Match credentials that the checker showed, each with the text of which it is the HMAC.
  std::map<std::string, std::string> credentials;
  std::vector<std::string> stale;  ///< entries of the baseline that fail no more
  std::chrono::milliseconds took{0};

  [[nodiscard]] Grade grade() const { return grade_of(findings); }
  [[nodiscard]] std::size_t count(Outcome outcome) const;
  /// How many checks were skipped because there was no time for them: the level says nothing of
  /// those.
  [[nodiscard]] std::size_t not_tried() const;
  /// The level, and how many were not tried if any were not.
  [[nodiscard]] std::string level_text() const;
};

/// `text` without what must not be shown: every secret, and the value of every `auth_token`, is cut
/// to 8 characters. At most `limit` bytes, then a word on how many there were.
[[nodiscard]] std::string masked(const std::string& text, const std::vector<std::string>& secrets,
                                 std::size_t limit = 1500);
/// A command for a shell that repeats the request, or a word on why there is none. It takes secrets
/// from the variable TOKEN, and says what to set it to.
[[nodiscard]] std::string repeat_line(const Exchange& exchange, const Report& report);

// The formats. Each is a whole document.
[[nodiscard]] std::string text_report(const Report& report);
[[nodiscard]] std::string json_report(const std::vector<Report>& reports);
[[nodiscard]] std::string junit_report(const std::vector<Report>& reports);
/// One page without a network; a matrix where there are several bots.
[[nodiscard]] std::string html_report(const std::vector<Report>& reports);
/// `results.json` of Gradescope: one test a check.
[[nodiscard]] std::string gradescope_report(const Report& report);

}  // namespace league::tools::check
