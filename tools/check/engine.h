#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tools/check/verdict.h"

namespace league::tools::check {

/// The options of run_checks.
struct RunOptions {
  std::vector<std::string> only;  ///< ids or clauses; empty: all
  std::chrono::milliseconds budget{55'000};  ///< checks that have not begun by then are skipped
  /// The clock of the budget.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  /// Whether the bot takes part in an ordinary match; called once.
  std::function<bool()> is_playing;
  /// Whether the bot spells its choice correctly; called only if it is playing.
  std::function<bool()> has_word;
  /// Whether the bot still accepts connections; called after each failure.
  std::function<bool()> is_there;
  /// How the bot's process ended, once it has, for people; empty: it runs, or the checker has not
  /// started it.
  std::function<std::string()> obituary;
  /// Whether the bot usually answers fast. If it does, the time for the run is prolonged, because
  /// it is the machine that is slow.
  std::function<bool()> is_quick;
  /// Called after each check that does not run in parallel with others; may be empty.
  std::function<void()> after_check;
  /// Restarts a bot that is gone; false if that failed. Empty: the checker cannot restart it.
  std::function<bool()> revive;
  /// Called for each finding, from one thread at a time; may be empty.
  std::function<void(const Finding&)> on_finding;
};

/// Runs the checks: the quick ones in order, then the slow ones in parallel, then those after which
/// the bot may be gone. A failed check is repeated once, to distinguish a flaky bot from a wrong
/// one; a bot that is gone is restarted a few times; an exception in a check does not end the run.
/// One finding for each check that was selected.
[[nodiscard]] std::vector<Finding> run_checks(const std::vector<Check>& checks,
                                              const RunOptions& options);

/// Whether `id` is selected by `only`: by its id, its clause (`P-4.9`), or a prefix followed by
/// `*`.
[[nodiscard]] bool is_selected(const std::string& id, const std::vector<std::string>& only);

}  // namespace league::tools::check
