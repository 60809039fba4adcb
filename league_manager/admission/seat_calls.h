#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "common/core/clock.h"
#include "league_manager/core/player_record.h"

namespace league::league_manager::admission {

/// When referees first called players at their seats for an answer, by the manager's own clock.
/// Keeps the last match of each player. Thread-safe.
class SeatCalls {
 public:
  /// The reference outlives it.
  explicit SeatCalls(const core::Clock& clock) : clock_(clock) {}

  /// The call has come just now.
  void note(const SeatedCall& call);
  /// Nothing: not known.
  [[nodiscard]] std::optional<core::Clock::Steady> first(SeatedCall call) const;

 private:
  const core::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<int, std::map<SeatedCall, core::Clock::Steady>> calls_;  // by player
};

}  // namespace league::league_manager::admission
