#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace league::league_manager::bus {

/// One public broadcast.
struct PublishedEvent {
  std::string type;  ///< last part of its subject: `round_completed`
  std::string message_type;  ///< `ROUND_COMPLETED`
  std::string conversation_id;
  /// The same if the event is published again after a restart: a stream stores it once.
  std::string id;
  std::shared_ptr<const std::string> text;  ///< signed JSON-RPC notification
};

/// The result of publishing an event.
struct EventKept {
  std::uint64_t sequence = 0;  ///< of the stream; 0: it is not kept, as far as is known
  bool is_repetition = false;  ///< the stream had it before
};

/// Publishes broadcasts once for all subscribers, however many there are. Thread-safe.
class EventBoard {
 public:
  virtual ~EventBoard() = default;
  /// Publishes in the order of the calls. `done` runs once, perhaps before this returns, on any
  /// thread: when the event is stored, or, if events are not stored, has been sent. Does not run
  /// after the board was stopped.
  virtual void publish(PublishedEvent event, std::function<void()> done) = 0;
  /// Drops waiting events.
  virtual void stop() = 0;
};

}  // namespace league::league_manager::bus
