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

namespace league::league_manager {

/// The events to which a session subscribes.
struct EventFilter {
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

/// Who is told of the league's events. Thread-safe.
class EventSubscriptions {
 public:
  virtual ~EventSubscriptions() = default;
  /// Begins to push to `session`, in place of what it asked for before. Where there are too many,
  /// who asked longest ago is forgotten.
  virtual void subscribe(const transport::BusSession& session, EventFilter filter) = 0;
  /// The same for a reader on another way. kOverloaded where there are too many of these: none has
  /// to make room for a stranger.
  [[nodiscard]] virtual core::Result<void> subscribe(std::shared_ptr<EventReader> reader,
                                                     EventFilter filter) = 0;
  /// False if no event can be sent again.
  [[nodiscard]] virtual bool is_kept() const = 0;
  /// Nothing is pushed any more.
  virtual void stop() = 0;
};

/// The arguments of `events_subscribe`; fails with kInvalidFieldType or kInvalidFieldValue and the
/// field.
[[nodiscard]] core::Result<EventFilter> read_event_filter(const nlohmann::json& arguments);

}  // namespace league::league_manager
