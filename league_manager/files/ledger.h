#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/journal/journal_mark.h"
#include "league_manager/core/league.h"

namespace league::league_manager::files {

/// The league together with its journal: the only place where decisions take effect. Decide, append
/// and apply happen under one lock; what follows from the events runs only when they are durable,
/// outside the lock. Thread-safe.
class Ledger {
 public:
  /// Called after a commit with its events, or with the reason why they could not be stored.
  using Then = std::function<void(core::Result<events::Events>)>;
  using Decide = std::function<events::Events(const League&, core::UtcTimestamp)>;

  /// Called with durable events, in the order of the journal, never concurrently. Must be short and
  /// must not call the ledger.
  using Observer = std::function<void(const events::Events&)>;

  /// `journal` and `clock` outlive the ledger.
  Ledger(events::LeagueSettings settings, journal::Journal& journal, const core::Clock& clock);

  /// Shows every event to `observer`: those of an old league when it is replayed, the others when
  /// they are durable. To be called before `open`.
  void observe(Observer observer) { observers_.push_back(std::move(observer)); }
  /// Writes the first event of a new league, or replays the journal of an old one.
  [[nodiscard]] core::Result<void> open();
  /// Whether the league was there before `open`.
  [[nodiscard]] bool is_continued() const { return is_continued_; }

  /// Reads the league; `read` must be short and must not call the ledger.
  template <typename Read>
  auto read(Read read) const {
    std::lock_guard lock(mutex_);
    return read(std::as_const(league_));
  }

  /// Calls `decide`, journals and applies the events that it returns, and calls `then` once.
  /// `decide(league, now)` must be short and must not call the ledger; `then` may do both. A
  /// decision without events waits until all earlier events are durable, so that a repeated answer
  /// cannot be sent before the first one.
  void commit(const Decide& decide, const Then& then);
  /// Like `commit`, but blocks until the events are durable.
  [[nodiscard]] core::Result<void> commit_and_wait(const Decide& decide);

  /// The last durable entry, with the digest of the journal up to it.
  [[nodiscard]] journal::JournalPosition journal_head() const;
  /// The entry that completed the league; nothing while it is not completed.
  [[nodiscard]] std::optional<journal::JournalPosition> completion() const;

  /// How far the journal is behind.
  struct JournalLag {
    int waiting = 0;  ///< commits that are not durable yet
    std::chrono::microseconds last{0};  ///< how long the last one took to become durable
  };
  [[nodiscard]] JournalLag journal_lag() const {
    return {undurable_, std::chrono::microseconds(last_commit_us_)};
  }

 private:
  void show(const events::Events& events) const;
  /// Moves `appended_` past `record`, which says that `event` has happened; needs `mutex_`.
  void chain(const journal::EventRecord& record, const events::EventBody& event);
  void set_journal_head(const journal::JournalPosition& head);

  mutable std::mutex mutex_;
  journal::Journal& journal_;
  const core::Clock& clock_;
  League league_;
  std::vector<Observer> observers_;
  std::atomic<int> undurable_{0};  // appends
  std::atomic<std::int64_t> last_commit_us_{0};
  bool is_continued_ = false;
  journal::JournalPosition appended_;  // the last entry that the journal got
  std::optional<journal::JournalPosition> completion_;
  mutable std::mutex head_mutex_;  // taken after `mutex_`, or alone
  journal::JournalPosition journal_head_;
};

}  // namespace league::league_manager::files
