#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace league::tools::check {

/// How much a check weighs. MUST: a league breaks without it. SHOULD: a league copes, and says so.
/// ROBUST: what keeps a bot alive among strangers.
enum class Level : std::uint8_t { kMust, kShould, kRobust };
/// `MUST`, `SHOULD`, `ROBUST`.
[[nodiscard]] std::string_view level_name(Level level);

/// How a check ended.
enum class Outcome : std::uint8_t {
  kPassed,
  kFailed,  ///< the bot's fault
  kFlaky,  ///< failed, and passed when it was repeated
  kSkipped,  ///< could not be tried; the reason says why
  kHarness,  ///< the checker's own fault: says nothing about the bot
};
/// `passed`, `failed`, `flaky`, `skipped`, `harness`.
[[nodiscard]] std::string_view outcome_name(Outcome outcome);

/// One request and what came of it, as bytes.
struct Exchange {
  std::string url = {};  ///< empty: the other side called
  std::string sent = {};  ///< the body, or the line; the whole request where `is_raw`
  std::string received = {};  ///< the answer's body
  int status = 0;  ///< of HTTP; 0 where there is none
  std::string content_type = {};
  std::string trouble = {};  ///< why there is no answer, for people; empty where there is one
  bool has_timed_out = false;
  bool is_refused = false;  ///< nobody accepts connections at that address
  bool is_raw = false;  ///< `sent` has its own request line and headers
  std::chrono::nanoseconds elapsed{};
};

/// What a check found.
struct Verdict {
  Outcome outcome = Outcome::kPassed;
  std::string got = {};  ///< what was found, or why it was skipped; one sentence
  std::string expected = {};
  std::string pointer = {};  ///< JSON pointer into the answer; empty: the whole
  Exchange exchange = {};

  [[nodiscard]] bool passed() const { return outcome == Outcome::kPassed; }
};

[[nodiscard]] Verdict pass();
[[nodiscard]] Verdict skip(std::string reason);
/// Why a check was skipped for which there was no time.
inline constexpr std::string_view kNoTime = "the time for this run is over";
/// The bot's fault: `got` where `expected` should be, at `pointer` of the answer.
[[nodiscard]] Verdict fail(Exchange exchange, std::string pointer, std::string expected,
                           std::string got);
[[nodiscard]] Verdict harness_fault(std::string what);

/// What is fixed about a check.
struct CheckInfo {
  std::string id = {};  ///< `P-4.9/parity-choice-lower-case`; what stands before `/` is the clause
  Level level = Level::kMust;
  std::string text = {};  ///< what is required, one sentence
  std::string fix = {};  ///< one sentence for the bot's author
  bool is_basic = false;  ///< without it the bot cannot take part in a match: the level `plays`
  bool needs_play = true;  ///< is skipped where the bot does not answer an ordinary match
  bool needs_word = false;  ///< is skipped where the choice is spelt wrongly
  bool is_slow = false;  ///< runs beside the other slow ones, after everything else
  bool is_last = false;  ///< the bot may be gone afterwards

  /// `P-4.9`.
  [[nodiscard]] std::string clause() const { return id.substr(0, id.find('/')); }
};

/// A check and how it is done. `run` is called from one thread at a time, but several slow checks
/// run at once.
struct Check {
  CheckInfo info;
  std::function<Verdict()> run;
};

/// One row of the report.
struct Finding {
  CheckInfo info = {};
  Verdict verdict = {};
  std::chrono::nanoseconds took{};
  bool is_known = false;  ///< the baseline names it
};

/// How good the bot is.
enum class Grade : std::uint8_t { kNone, kPlays, kConforms, kRobust };
/// `none`, `plays`, `conforms`, `robust`.
[[nodiscard]] std::string_view grade_name(Grade grade);
/// `plays`: every basic check passed. `conforms`: every MUST. `robust`: every ROBUST as well. A
/// skipped check counts for nothing; a flaky one and a fault of the harness spoil `robust`.
[[nodiscard]] Grade grade_of(const std::vector<Finding>& findings);

}  // namespace league::tools::check
