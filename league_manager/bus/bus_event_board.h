#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/audit/record/record.h"
#include "common/core/clock.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/link/subject.h"
#include "league_manager/bus/event_board.h"

namespace league::league_manager::bus {

/// The dependencies of a board on a bus; all references outlive it.
struct BusEventBoardDependencies {
  transport::bus::Bus& bus;
  transport::bus::JetStream* streams;  ///< null: events are not kept
  transport::link::BusSession session;  ///< of the manager
  std::string league_id;
  int replicas = 1;  ///< how many brokers of a cluster keep the stream
  std::int64_t max_bytes = -1;  ///< size limit of the stream, which drops its oldest events; -1: no
                                ///< limit
  const core::Clock& clock;
  audit::record::RecordSink& log;  ///< each published event is recorded there once
  /// Called for each published event, in order, with its number in the stream; 0: not stored.
  std::function<void(const PublishedEvent&, EventKept)> on_published = {};
};

/// Publishes at `mcp.events.LEAGUE.TYPE`, one event at a time, and has the broker store them in the
/// stream LEAGUE_EVENTS_LEAGUE, from which readers may resume. A broker without JetStream, or
/// without room, only forwards events; the operator is told once. While the broker is away events
/// wait. Thread-safe. Source: the design for stateless sessions.
class BusEventBoard final : public EventBoard {
 public:
  /// Starts by looking for the stream.
  explicit BusEventBoard(BusEventBoardDependencies dependencies);
  ~BusEventBoard() override;
  BusEventBoard(const BusEventBoard&) = delete;
  BusEventBoard& operator=(const BusEventBoard&) = delete;

  void publish(PublishedEvent event, std::function<void()> done) override;
  void stop() override;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::league_manager::bus
