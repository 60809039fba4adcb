#pragma once

#include <memory>
#include <string>

#include "common/transport/bus/jet_stream.h"
#include "league_manager/match_queue.h"

namespace league::league_manager {

/// The queue of one league as a work-queue stream of a broker: LEAGUE_WORK_league, with one
/// consumer, `referees`, that all of its referees share. A stream that the broker has lost is made
/// again when the next match is offered. Thread-safe. Source: docs/distributed.md.
class BusMatchQueue final : public MatchQueue {
 public:
  /// Makes stream and consumer; waits for the broker until `deadline`. `streams` outlives it and
  /// its last call. Fails with kConnectionError where the broker has no JetStream.
  /// `wait`: a match of whose referee nothing is heard for so long is handed out again.
  [[nodiscard]] static core::Result<std::unique_ptr<BusMatchQueue>> open(
      transport::JetStream& streams, const core::LeagueId& league, const core::Clock& clock,
      std::chrono::milliseconds wait, core::Clock::Steady deadline, core::RandomSource& random);
  ~BusMatchQueue() override;

  void offer(MatchKey match, int attempt, int repetition) override;

 private:
  class State;
  explicit BusMatchQueue(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace league::league_manager
