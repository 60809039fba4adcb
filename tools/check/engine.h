#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/check/verdict.h"

namespace league::tools::check {

/// How checks are run.
struct RunOptions {
  std::vector<std::string> only;  ///< ids or clauses; empty: all
  std::chrono::milliseconds budget{55'000};  ///< what has not begun by then is skipped
  /// Whether the bot takes part in an ordinary match; asked once.
  std::function<bool()> is_playing;
  /// Whether it spells its choice as the game does; asked where it is playing.
  std::function<bool()> has_word;
  /// Whether the bot still accepts connections; asked after each failure.
  std::function<bool()> is_there;
  /// Starts a bot that is gone again; false if that did not help. Empty: nobody can.
  std::function<bool()> revive;
  /// Told of each finding, from one thread at a time; may be empty.
  std::function<void(const Finding&)> on_finding;
};

/// Runs the checks: the quick ones in their order, then the slow ones side by side, then those
/// after which the bot may be gone. A failure is repeated once, to tell a flaky bot from a wrong
/// one; a bot that is gone is revived a few times; nothing that a check throws ends the run. One
/// finding for each check that was selected.
[[nodiscard]] std::vector<Finding> run_checks(const std::vector<Check>& checks,
                                              const RunOptions& options);

/// Whether `id` is selected by `only`: itself, or its clause (`P-4.9`), or the beginning of its id
/// before a `*`.
[[nodiscard]] bool is_selected(const std::string& id, const std::vector<std::string>& only);

}  // namespace league::tools::check
