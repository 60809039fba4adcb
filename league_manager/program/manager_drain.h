#pragma once

#include <atomic>
#include <chrono>

#include "common/transport/link/signals.h"
#include "league_manager/files/ledger.h"

namespace league::league_manager {

/// Before a manager ends, no new match begins, and running matches get some time to finish; a
/// league that is continued resumes by itself.
class ManagerDrain {
 public:
  /// `ledger` outlives it. With a patience of zero it does not wait.
  ManagerDrain(std::chrono::seconds patience, files::Ledger& ledger)
      : patience_(patience), ledger_(ledger) {}

  /// Whether the manager is about to end.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Returns when no match is running, the patience has run out, or `stop` is signalled once more.
  void run(transport::link::StopSignal& stop);

 private:
  [[nodiscard]] std::size_t matches_in_play() const;

  const std::chrono::seconds patience_;
  files::Ledger& ledger_;
  std::atomic<bool> has_begun_{false};
};

}  // namespace league::league_manager
