#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/jet_stream.h"
#include "common/core/clock.h"
#include "common/task/task.h"
#include "common/transport/link/subject.h"
#include "league_manager/bus/event_board.h"
#include "league_manager/bus/event_subscriptions.h"

namespace league::league_manager::bus {

/// Pushes the league's events to subscribers: to sessions of the bus at their `.out`, as
/// server-sent events, and to readers over other transports. `id` is the event's number in the
/// stream; an event that is not stored has none. If the broker has lost the stream, its readers are
/// notified and get the new stream from its first event. Nothing survives a restart: clients
/// subscribe again. Thread-safe. Source: docs/distributed.md.
class EventFeed final : public EventSubscriptions {
 public:
  static constexpr std::size_t kMostReaders = 1000;
  static constexpr std::size_t kMostOtherReaders = 200;

  /// All arguments must outlive the feed; `streams` is null if events are not stored.
  EventFeed(transport::bus::Bus& bus, transport::bus::JetStream* streams, std::string league_id,
            const core::Clock& clock);
  ~EventFeed() override;

  void subscribe(const transport::link::BusSession& session, EventFilter filter) override;
  [[nodiscard]] core::Result<void> subscribe(std::shared_ptr<EventReader> reader,
                                             EventFilter filter) override;
  /// Must be called for each published event, in order.
  void on_published(const PublishedEvent& event, EventKept kept);
  [[nodiscard]] bool is_kept() const override { return is_kept_; }
  void stop() override;

 private:
  class SessionReader;
  struct Reader;
  using Task = task::Task<void>;

  /// Subscribes a reader. One over another transport has no `session`; one with a session replaces
  /// an earlier subscription of the same session.
  Task add(std::string session, std::shared_ptr<EventReader> told, EventFilter filter);
  /// Drops the oldest subscription of a bus session if there are too many.
  void make_room();
  Task push_all(PublishedEvent event, EventKept kept);
  void push(Reader& reader, const std::string& text, std::uint64_t sequence);
  /// Sends `reader` the stored events until it has all of them, or is gone.
  Task catch_up(std::shared_ptr<Reader> reader);
  /// Gets the stream's next event for `reader`.
  Task read_next(std::shared_ptr<Reader> reader);
  /// Checks whether the broker has lost the stream: a new one has lower sequence numbers.
  Task look(std::shared_ptr<Reader> reader);
  Task clear();

  transport::bus::Bus& bus_;
  transport::bus::JetStream* const streams_;
  const std::string league_id_;
  const core::Clock& clock_;
  std::atomic<bool> is_kept_;  ///< whether the last event was stored, as far as is known
  std::mutex others_mutex_;
  /// The readers over other transports, which are counted before they are added.
  std::vector<std::weak_ptr<EventReader>> others_;

  // What follows is used by the tasks only.
  std::vector<std::shared_ptr<Reader>> readers_;  ///< in the order of their subscriptions
  task::Scope tasks_;  // last: they use everything above
};

}  // namespace league::league_manager::bus
