#include "tools/check/engine.h"

#include <algorithm>
#include <exception>
#include <future>
#include <optional>

namespace league::tools::check {
namespace {

using Steady = std::chrono::steady_clock;

/// The cause of failures at which the bot's process ended.
constexpr std::string_view kEnded = "ended";

class Engine {
 public:
  explicit Engine(const RunOptions& options)
      : options_(options), ends_(options.now() + options.budget) {}

  std::vector<Finding> run(const std::vector<Check>& checks) {
    std::vector<const Check*> quick;
    std::vector<const Check*> slow;
    std::vector<const Check*> last;
    for (const Check& check : checks) {
      if (!is_selected(check.info.id, options_.only)) continue;
      (check.info.is_last ? last : check.info.is_slow ? slow : quick).push_back(&check);
    }
    for (const Check* check : quick) {
      file(judged(*check));
      if (options_.after_check && !gone_) options_.after_check();
    }
    if (!slow.empty() && options_.is_playing) (void)is_playing();
    run_side_by_side(slow);
    for (const Check* check : last) file(judged(*check));
    return std::move(findings_);
  }

 private:
  void run_side_by_side(const std::vector<const Check*>& checks) {
    std::vector<std::future<Finding>> running;
    for (const Check* check : checks)
      running.push_back(std::async(std::launch::async, [this, check] { return judged(*check); }));
    // Restarting the bot now would disturb the checks that still run.
    for (auto& finding : running) file(finding.get(), false);
    const auto died_of = std::ranges::find(
        findings_, gone_, [](const Finding& finding) { return std::optional(finding.info.id); });
    if (!checks.empty() && died_of != findings_.end()) revive(*died_of);
  }

  /// Restarts a bot that has died, and notes that in the finding of the check that caused it.
  void revive(Finding& finding) {
    constexpr int kMostRevivals = 4;
    if (!options_.revive || revivals_ == kMostRevivals || !has_time()) return;
    // Nothing follows for a bot that plays no match.
    if (options_.is_playing && !is_playing()) return;
    ++revivals_;
    if (!options_.revive()) return;
    gone_.reset();
    finding.verdict.got += "; it was started again for the checks that follow";
  }

  void file(Finding finding, bool may_revive = true) {
    const bool has_ended = finding.verdict.cause == kEnded;
    if (finding.verdict.outcome == Outcome::kFailed && options_.is_there && !gone_ &&
        (has_ended || !options_.is_there())) {
      gone_ = finding.info.id;
      if (!has_ended) finding.verdict.got += " (since this check the bot accepts no connections)";
      if (may_revive) revive(finding);
    }
    if (options_.on_finding) options_.on_finding(finding);
    findings_.push_back(std::move(finding));
  }

  Finding judged(const Check& check) {
    const auto begun = Steady::now();
    Finding finding{.info = check.info, .verdict = verdict_of(check), .took = {}};
    finding.took = Steady::now() - begun;
    return finding;
  }

  Verdict verdict_of(const Check& check) {
    if (gone_) return skip_blocked("the bot has not been reachable since " + *gone_);
    if (check.info.needs_play && options_.is_playing && !is_playing())
      return skip_blocked("the bot does not play an ordinary match; fix the basic checks first");
    if (!has_time()) return skip(std::string(kNoTime));
    if (check.info.needs_word && options_.has_word && !options_.has_word())
      return skip_blocked("the choice is spelt wrongly, so GAME_OVER cannot repeat it; see P-4.9");
    Verdict verdict = guarded(check);
    if (verdict.outcome != Outcome::kFailed || names_end(verdict) || !has_time()) return verdict;
    Verdict again = guarded(check);
    if (again.outcome == Outcome::kPassed) verdict.outcome = Outcome::kFlaky;
    if (again.outcome == Outcome::kFailed && names_end(again)) return again;
    return verdict;
  }

  /// Whether there is time for another check. A slow machine costs a bot nothing that is fast.
  [[nodiscard]] bool has_time() const {
    constexpr int kLongest = 10;
    const auto now = options_.now();
    if (now <= ends_) return true;
    return options_.is_quick && now <= ends_ + kLongest * options_.budget && options_.is_quick();
  }

  /// If the bot's process has ended, makes that the failure; otherwise false.
  bool names_end(Verdict& verdict) const {
    if (!options_.obituary) return false;
    std::string why = options_.obituary();
    if (why.empty()) return false;
    verdict.got = std::move(why);
    verdict.expected = "a bot that keeps running";
    verdict.pointer.clear();
    verdict.fix = "Find the fault that ended your program. Its last lines of output say more.";
    verdict.cause = kEnded;
    return true;
  }

  static Verdict guarded(const Check& check) {
    try {
      return check.run();
    } catch (const std::exception& error) {
      return harness_fault(std::string("the check itself failed: ") + error.what());
    }
  }

  bool is_playing() {
    if (!playing_) playing_ = options_.is_playing();
    return *playing_;
  }

  const RunOptions& options_;
  const Steady::time_point ends_;
  std::optional<bool> playing_;  ///< determined before slow checks run in parallel
  std::optional<std::string> gone_;
  int revivals_ = 0;
  std::vector<Finding> findings_;
};

}  // namespace

bool is_selected(const std::string& id, const std::vector<std::string>& only) {
  if (only.empty()) return true;
  return std::ranges::any_of(only, [&id](const std::string& wanted) {
    if (!wanted.empty() && wanted.back() == '*')
      return id.starts_with(wanted.substr(0, wanted.size() - 1));
    return id == wanted || id.substr(0, id.find('/')) == wanted;
  });
}

std::vector<Finding> run_checks(const std::vector<Check>& checks, const RunOptions& options) {
  return Engine(options).run(checks);
}

}  // namespace league::tools::check
