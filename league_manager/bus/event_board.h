#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace league::league_manager {

/// One broadcast as everybody may hear it.
struct PublishedEvent {
  std::string type;  ///< last part of its subject: `round_completed`
  std::string message_type;  ///< `ROUND_COMPLETED`
  std::string conversation_id;
  /// The same for what is published again after a restart: a stream keeps it once.
  std::string id;
  std::shared_ptr<const std::string> text;  ///< signed JSON-RPC notification
};

/// What has become of a published event.
struct EventKept {
  std::uint64_t sequence = 0;  ///< of the stream; 0: it is not kept, as far as is known
  bool is_repetition = false;  ///< the stream had it before
};

/// Where broadcasts are published once for all who listen, however many they are. Thread-safe.
class EventBoard {
 public:
  virtual ~EventBoard() = default;
  /// Publishes in the order of the calls. `done` runs once, perhaps before this returns, on any
  /// thread: when the event is kept or, where nobody keeps events, has been handed over. Not after
  /// the board was stopped.
  virtual void publish(PublishedEvent event, std::function<void()> done) = 0;
  /// Drops what waits.
  virtual void stop() = 0;
};

}  // namespace league::league_manager
