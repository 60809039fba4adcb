#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "bus/transport/bus.h"
#include "bus/transport/jet_stream.h"
#include "common/audit/record/record.h"
#include "common/core/clock.h"
#include "common/task/task.h"
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
/// wait. Thread-safe. Source: docs/distributed.md.
class BusEventBoard final : public EventBoard {
 public:
  /// Starts by looking for the stream.
  explicit BusEventBoard(BusEventBoardDependencies dependencies);
  ~BusEventBoard() override;

  void publish(PublishedEvent event, std::function<void()> done) override;
  /// A publication that is running may end only after this, but before the board is destroyed.
  void stop() override;

 private:
  using Task = task::Task<void>;
  enum class Keeping { kUnknown, kStream, kNobody };
  struct Waiting {
    PublishedEvent event;
    std::function<void()> done;
  };

  Task add(Waiting event);
  /// Publishes what waits, one event at a time, so that events keep their order and no subscriber
  /// gets a round before the previous one.
  Task serve();
  /// Publishes the event, again while its answer is lost and there is hope.
  task::Task<EventKept> send(PublishedEvent event);
  EventKept hand_over(const PublishedEvent& event);
  /// Waits until the broker is there, and it is known whether it stores events.
  Task readiness();
  void wake();
  /// The new connection may be to another broker, or to the same one after it lost its files.
  Task reconnect();
  /// Searches for the stream, unless a search is running.
  void look();
  Task search();
  /// Also true some time after a failed search: electing a broker for the stream, or creating it on
  /// a slow disk, can take longer than one search.
  [[nodiscard]] bool is_search_due() const;
  [[nodiscard]] transport::bus::BusMessage message_of(const PublishedEvent& event) const;
  void log(const PublishedEvent& event) const;

  const BusEventBoardDependencies deps_;
  std::unique_ptr<transport::bus::Bus::Subscription> watch_;

  // What follows is used by the tasks only.
  std::deque<Waiting> waiting_;  ///< the first one is being published
  Keeping keeping_;
  core::Clock::Steady search_again_{};
  bool is_searching_ = false;
  bool must_search_again_ = false;  ///< the bus connected again during a search
  bool is_said_ = false;
  bool is_full_said_ = false;
  std::function<void(bool)> wake_;  ///< ends readiness()
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::league_manager::bus
