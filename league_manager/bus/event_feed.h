#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "common/core/clock.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/jet_stream.h"
#include "common/transport/link/subject.h"
#include "league_manager/bus/event_board.h"

namespace league::league_manager {

/// The events to which a session subscribes.
struct EventWish {
  std::set<std::string> types = {};  ///< `round_completed`; empty: all
  /// First those behind this number of the stream that it still has, then what happens; nothing:
  /// only what happens.
  std::optional<std::uint64_t> after = std::nullopt;
};

/// Whom a feed tells of events. Thread-safe; told of one event after the other.
class EventReader {
 public:
  virtual ~EventReader() = default;
  /// `id`: the event's number in the stream; empty: it is not kept. `type`: of server-sent events,
  /// `message` or `reset`. False: nobody listens any more.
  virtual bool tell(const std::string& text, const std::string& id, std::string_view type) = 0;
  [[nodiscard]] virtual bool is_open() const { return true; }
};

/// Pushes the league's events to who asked for them: to sessions of the bus at their `.out`, as
/// text of server-sent events, and to readers on other ways. `id` is the event's number in the
/// stream; one that is not kept has none. A reader of a stream that the broker has lost is told so,
/// and gets the new one from its first event. Nothing of it survives a restart: a client that finds
/// the manager again asks again. Thread-safe. Source: the design for stateless sessions,
/// events_subscribe.
class EventFeed {
 public:
  static constexpr std::size_t kMostReaders = 1000;
  static constexpr std::size_t kMostOtherReaders = 200;

  /// All outlive it; `streams` is null where events are not kept.
  EventFeed(transport::Bus& bus, transport::JetStream* streams, std::string league_id,
            const core::Clock& clock);
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  /// Begins to push to `session`, in place of what it asked for before. Where there are too many,
  /// who asked longest ago is forgotten.
  void subscribe(const transport::BusSession& session, EventWish wish);
  /// The same for a reader on another way. kOverloaded where there are too many of these: none has
  /// to make room for a stranger.
  [[nodiscard]] core::Result<void> subscribe(std::shared_ptr<EventReader> reader, EventWish wish);
  /// An event was published.
  void on_published(const PublishedEvent& event, EventKept kept);
  /// False if no event can be sent again.
  [[nodiscard]] bool is_kept() const;
  /// Nothing is pushed any more.
  void stop();

 private:
  class State;
  const std::shared_ptr<State> state_;
};

/// The arguments of `events_subscribe`; fails with kInvalidFieldType or kInvalidFieldValue and the
/// field.
[[nodiscard]] core::Result<EventWish> read_event_wish(const nlohmann::json& arguments);

}  // namespace league::league_manager
