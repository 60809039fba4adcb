#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "common/core/clock.h"
#include "common/journal/journal.h"
#include "league_manager/league.h"

namespace league::league_manager {

/// The league together with its journal: the one place where a decision becomes fact. Decide,
/// append and apply happen under one lock; what follows from the events runs only when they are
/// durable, outside the lock. Thread-safe.
class Ledger {
 public:
  /// What follows from a commit: the events, or why they could not be stored.
  using Then = std::function<void(core::Result<Events>)>;

  /// `journal` and `clock` outlive the ledger.
  Ledger(LeagueSettings settings, journal::Journal& journal, const core::Clock& clock);

  /// Writes the first event of a new league, or replays the journal of an old one.
  [[nodiscard]] core::Result<void> open();

  /// Reads the league; `read` must be short and must not call the ledger.
  template <typename Read>
  auto read(Read read) const {
    std::lock_guard lock(mutex_);
    return read(std::as_const(league_));
  }

  /// Lets `decide` turn the league into events, makes them fact, and calls `then` once.
  /// `decide(league, now)` must be short and must not call the ledger; `then` may do both.
  void commit(const std::function<Events(const League&, core::UtcTimestamp)>& decide,
              const Then& then);

 private:
  mutable std::mutex mutex_;
  journal::Journal& journal_;
  const core::Clock& clock_;
  League league_;
};

}  // namespace league::league_manager
