#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "common/transport/link/message_connection.h"
#include "common/transport/link/message_handler.h"

namespace league::transport::link {

/// How one connection is served.
struct ServedConnectionOptions {
  std::size_t max_in_work = 32;  ///< messages handed over and not yet answered; then reading stops
  /// The connection is closed and the handler knows; runs once, on the connection's thread.
  std::function<void()> on_closed = nullptr;
};

/// Passes the messages of one connection to a handler and sends its answers back: requests,
/// notifications and the peer's answers to pushed requests. Inbound.channel is this object.
/// Messages are passed on in order and may be answered in any order. When the peer's input ends,
/// running requests are still answered. Thread-safe; releasing the last reference closes nothing.
class ServedConnection : public PeerChannel {
 public:
  /// Starts the connection. `handler` outlives it (until on_closed).
  [[nodiscard]] static std::shared_ptr<ServedConnection> serve(
      std::shared_ptr<MessageConnection> connection, MessageHandler& handler,
      ServedConnectionOptions options = {});

  /// Stops reading, waits until running requests are answered, then closes. To close at once drops
  /// the answers of running requests.
  virtual void begin_stop() = 0;
  [[nodiscard]] virtual std::size_t in_work() const = 0;
};

}  // namespace league::transport::link
