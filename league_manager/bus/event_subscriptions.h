#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/transport/link/subject.h"

namespace league::league_manager::bus {

/// The events to which a session subscribes.
struct EventFilter {
  std::set<std::string> types = {};  ///< `round_completed`; empty: all
  /// Sends the stored events after this number of the stream first, then new ones; nothing: only
  /// new ones.
  std::optional<std::uint64_t> after = std::nullopt;
};

/// Receives the events of a feed, one at a time. Thread-safe.
class EventReader {
 public:
  virtual ~EventReader() = default;
  /// Passes on the event `text`. `id`: the event's number in the stream; empty if the event is not
  /// stored. `type`: the type of the server-sent event, `message` or `reset`. Returns false if the
  /// reader no longer listens.
  virtual bool tell(const std::string& text, const std::string& id, std::string_view type) = 0;
  [[nodiscard]] virtual bool is_open() const { return true; }
};

/// The subscriptions to the league's events. Thread-safe.
class EventSubscriptions {
 public:
  virtual ~EventSubscriptions() = default;
  /// Begins to push to `session`, replacing its earlier subscription. If there are too many, the
  /// oldest subscription is dropped.
  virtual void subscribe(const transport::link::BusSession& session, EventFilter filter) = 0;
  /// Begins to push to a reader over another transport. Fails with kOverloaded if there are too
  /// many readers: none is dropped in favour of a new one, whose sender is unknown.
  [[nodiscard]] virtual core::Result<void> subscribe(std::shared_ptr<EventReader> reader,
                                                     EventFilter filter) = 0;
  /// Whether events are stored and can be sent again.
  [[nodiscard]] virtual bool is_kept() const = 0;
  /// Stops pushing.
  virtual void stop() = 0;
};

/// The arguments of `events_subscribe`; fails with kInvalidFieldType or kInvalidFieldValue and the
/// field.
[[nodiscard]] core::Result<EventFilter> read_event_filter(const nlohmann::json& arguments);

}  // namespace league::league_manager::bus
