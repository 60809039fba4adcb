#pragma once

#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/link/subject.h"
#include "league_manager/bus/event_board.h"
#include "league_manager/bus/event_subscriptions.h"

namespace league::league_manager {

/// Pushes the league's events to who asked for them: to sessions of the bus at their `.out`, as
/// text of server-sent events, and to readers on other ways. `id` is the event's number in the
/// stream; one that is not kept has none. A reader of a stream that the broker has lost is told so,
/// and gets the new one from its first event. Nothing of it survives a restart: a client that finds
/// the manager again asks again. Thread-safe. Source: the design for stateless sessions,
/// events_subscribe.
class EventFeed final : public EventSubscriptions {
 public:
  static constexpr std::size_t kMostReaders = 1000;
  static constexpr std::size_t kMostOtherReaders = 200;

  /// All outlive it; `streams` is null where events are not kept.
  EventFeed(transport::Bus& bus, transport::JetStream* streams, std::string league_id,
            const core::Clock& clock);
  ~EventFeed() override;
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  void subscribe(const transport::BusSession& session, EventFilter filter) override;
  [[nodiscard]] core::Result<void> subscribe(std::shared_ptr<EventReader> reader,
                                             EventFilter filter) override;
  /// An event was published.
  void on_published(const PublishedEvent& event, EventKept kept);
  [[nodiscard]] bool is_kept() const override;
  void stop() override;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::league_manager
