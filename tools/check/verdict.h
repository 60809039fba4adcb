#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace league::tools::check {

/// The weight of a check. MUST: a league does not work without it. SHOULD: a league tolerates the
/// fault and records it. ROBUST: protects a bot against unknown peers.
enum class Level : std::uint8_t { kMust, kShould, kRobust };
/// `MUST`, `SHOULD`, `ROBUST`.
[[nodiscard]] std::string_view level_name(Level level);

/// How a check ended.
enum class Outcome : std::uint8_t {
  kPassed,
  kFailed,  ///< the bot's fault
  kFlaky,  ///< failed, and passed when it was repeated
  kSkipped,  ///< could not be tried; the reason says why
  kHarness,  ///< the checker's own fault: no statement about the bot
};
/// `passed`, `failed`, `flaky`, `skipped`, `harness`.
[[nodiscard]] std::string_view outcome_name(Outcome outcome);

/// One request and its answer, as bytes.
struct Exchange {
  std::string url = {};  ///< empty: the other side called
  std::string sent = {};  ///< the body, or the line; the whole request where `is_raw`
  std::string received = {};  ///< the answer's body
  int status = 0;  ///< of HTTP; 0: none
  std::string content_type = {};
  std::string trouble = {};  ///< why there is no answer, for people; empty: there is one
  bool has_timed_out = false;
  bool is_refused = false;  ///< no server accepts connections at this address
  bool is_raw = false;  ///< `sent` has its own request line and headers
  std::chrono::nanoseconds elapsed{};
};

/// The result of a check.
struct Verdict {
  Outcome outcome = Outcome::kPassed;
  std::string got = {};  ///< what was found, or why it was skipped; one sentence
  std::string expected = {};
  std::string pointer = {};  ///< JSON pointer into the answer; empty: the whole
  Exchange exchange = {};
  std::string fix = {};  ///< what to do, where it is not what CheckInfo says
  /// Names what several checks may fail for; empty: see cause_of.
  std::string cause = {};
  bool is_blocked = false;  ///< skipped because of another fault of the bot

  [[nodiscard]] bool passed() const { return outcome == Outcome::kPassed; }
  /// Skipped for lack of time.
  [[nodiscard]] bool is_untried() const;
};

[[nodiscard]] Verdict pass();
[[nodiscard]] Verdict skip(std::string reason);
/// Skipped because of a fault of the bot that another check tells.
[[nodiscard]] Verdict skip_blocked(std::string reason);
/// The reason of checks that were skipped for lack of time.
inline constexpr std::string_view kNoTime = "the time for this run is over";
/// A failure of the bot: `got` instead of `expected`, at `pointer` of the answer.
[[nodiscard]] Verdict fail(Exchange exchange, std::string pointer, std::string expected,
                           std::string got);
/// `pass()` if `is_right`, otherwise `fail` with the other arguments.
[[nodiscard]] Verdict expect(bool is_right, Exchange exchange, std::string pointer,
                             std::string expected, std::string got);
[[nodiscard]] Verdict harness_fault(std::string what);

/// `verdict`, with this to do instead of what its check says.
[[nodiscard]] Verdict with_fix(Verdict verdict, std::string fix);

/// The constant properties of a check.
struct CheckInfo {
  std::string id = {};  ///< `P-4.9/parity-choice-lower-case`; the part before `/` is the clause
  Level level = Level::kMust;
  std::string text = {};  ///< what is required, one sentence
  std::string fix = {};  ///< one sentence for the bot's author
  bool is_basic = false;  ///< without it the bot cannot take part in a match: the level `plays`
  bool needs_play = true;  ///< skipped if the bot does not take part in an ordinary match
  bool needs_word = false;  ///< skipped if the bot spells its choice wrongly
  bool is_slow = false;  ///< runs in parallel with the other slow ones, after the quick ones
  bool is_last = false;  ///< the bot may be gone afterwards

  /// `P-4.9`.
  [[nodiscard]] std::string clause() const { return id.substr(0, id.find('/')); }
};

/// A check. Its `run` is called from one thread at a time, but several slow checks run at once.
struct Check {
  CheckInfo info;
  std::function<Verdict()> run;
};

/// One row of the report.
struct Finding {
  CheckInfo info = {};
  Verdict verdict = {};
  std::chrono::nanoseconds took{};
  bool is_known = false;  ///< it is in the baseline
};

/// What to do about a failure, one sentence for the bot's author.
[[nodiscard]] const std::string& fix_of(const Finding& finding);
/// What failed: two findings with the same cause are about the same fault, such as a field that is
/// wrong in both answers.
[[nodiscard]] std::string cause_of(const Finding& finding);

/// The level that a bot reaches.
enum class Grade : std::uint8_t { kNone, kPlays, kConforms, kRobust };
/// `none`, `plays`, `conforms`, `robust`.
[[nodiscard]] std::string_view grade_name(Grade grade);
/// `plays`: every basic check passed. `conforms`: every MUST. `robust`: every ROBUST as well.
/// Skipped checks are ignored, except those that there was no time for: a bot that answers slowly
/// must not be graded by the few checks that it got. A flaky check or a fault of the checker
/// prevents `robust`.
[[nodiscard]] Grade grade_of(const std::vector<Finding>& findings);

}  // namespace league::tools::check
