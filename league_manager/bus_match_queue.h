#pragma once

#include <memory>
#include <string>

#include "common/core/random_source.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/jet_stream.h"
#include "league_manager/match_queue.h"

namespace league::league_manager {

/// The queue of one league as a work-queue stream of a broker: LEAGUE_WORK_league, with one
/// consumer, `referees`, that all of its referees share. A stream that the broker has lost is made
/// again when a match is offered for the second time. Thread-safe. Source: docs/distributed.md.
class BusMatchQueue final : public MatchQueue {
 public:
  struct Dependencies {
    transport::JetStream& streams;
    const transport::Bus& bus;  ///< by which referees are reached
    const core::Clock& clock;
    core::RandomSource& random;
    int replicas = 1;  ///< how many brokers of a cluster keep the stream
  };

  /// All dependencies outlive it and its last call.
  /// `wait`: a match of whose referee nothing is heard for so long is handed out again.
  BusMatchQueue(const Dependencies& dependencies, const core::LeagueId& league,
                std::chrono::milliseconds wait);
  ~BusMatchQueue() override;

  /// Makes stream and consumer; waits for the broker until `deadline`, but not where it has no
  /// JetStream, which is kConnectionError. Where it fails, offers of repetition 1 and more try it
  /// again.
  [[nodiscard]] core::Result<void> open(core::Clock::Steady deadline);

  void offer(MatchKey match, int attempt, int repetition, Offered done) override;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::league_manager
