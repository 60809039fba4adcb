#pragma once

#include <map>
#include <mutex>

#include "common/core/clock.h"
#include "league_manager/ledger.h"

namespace league::league_manager {

/// Where matches wait for whichever referee is free. It may lose them, keep them too long or hand
/// them out twice: the league decides who gets a match (League::decide_claims). Thread-safe.
class MatchQueue {
 public:
  virtual ~MatchQueue() = default;
  /// Puts a match there, for its `attempt`; `repetition` counts how often this was done for the
  /// same attempt before. Does not block.
  virtual void offer(MatchKey match, int attempt, int repetition) = 0;
};

/// Sees to it that every match that waits for referees who come by themselves is in the queue.
/// Thread-safe.
class QueueKeeper {
 public:
  /// What has waited in vain for so long is offered again, and then after twice as long. All
  /// outlive it.
  QueueKeeper(const Ledger& ledger, MatchQueue& queue, const core::Clock& clock,
              std::chrono::milliseconds patience);

  /// Call it when matches may have begun to wait, and now and then.
  void sync();

 private:
  struct Offered {
    int attempt = 0;
    int repetitions = 0;
    core::Clock::Steady due{};  ///< to be offered again
  };

  const Ledger& ledger_;
  MatchQueue& queue_;
  const core::Clock& clock_;
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::map<MatchKey, Offered> offered_;
};

}  // namespace league::league_manager
