#pragma once

#include <atomic>
#include <chrono>

#include "common/transport/link/signals.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager {

/// Before a manager ends no other match begins, and those that are being played get some time to
/// come to their end; a league that is continued goes on by itself. Thread-safe but for `run`.
class ManagerDrain {
 public:
  /// `ledger` outlives it. Without patience nothing is waited for.
  ManagerDrain(std::chrono::seconds patience, Ledger& ledger)
      : patience_(patience), ledger_(ledger) {}

  /// Whether the manager is about to end.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Returns when no match is being played, the patience is over, or `stop` comes once more.
  void run(transport::StopSignal& stop);

 private:
  [[nodiscard]] std::size_t matches_in_play() const;

  const std::chrono::seconds patience_;
  Ledger& ledger_;
  std::atomic<bool> has_begun_{false};
};

}  // namespace league::league_manager
