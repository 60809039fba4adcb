#pragma once

#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/link/subject.h"
#include "league_manager/bus/event_board.h"
#include "league_manager/bus/event_subscriptions.h"

namespace league::league_manager::bus {

/// Pushes the league's events to subscribers: to sessions of the bus at their `.out`, as
/// server-sent events, and to readers over other transports. `id` is the event's number in the
/// stream; an event that is not stored has none. If the broker has lost the stream, its readers are
/// notified and get the new stream from its first event. Nothing survives a restart: clients
/// subscribe again. Thread-safe. Source: the design for stateless sessions, events_subscribe.
class EventFeed final : public EventSubscriptions {
 public:
  static constexpr std::size_t kMostReaders = 1000;
  static constexpr std::size_t kMostOtherReaders = 200;

  /// All arguments must outlive the feed; `streams` is null if events are not stored.
  EventFeed(transport::bus::Bus& bus, transport::bus::JetStream* streams, std::string league_id,
            const core::Clock& clock);
  ~EventFeed() override;
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  void subscribe(const transport::link::BusSession& session, EventFilter filter) override;
  [[nodiscard]] core::Result<void> subscribe(std::shared_ptr<EventReader> reader,
                                             EventFilter filter) override;
  /// Must be called for each published event, in order.
  void on_published(const PublishedEvent& event, EventKept kept);
  [[nodiscard]] bool is_kept() const override;
  void stop() override;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::league_manager::bus
