#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/rate_limiter.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// Which of a session's two subjects is listened to.
enum class BusSide {
  kAgent,  ///< `.out`: what others send to the session's agent
  kServer,  ///< `.in`: what the session's agent sends to its server
};

struct BusListenerOptions {
  BusSide side = BusSide::kAgent;
  /// Decides on a message before it is read or logged; null: every message passes. The listener
  /// stops listening for a while to a session that keeps sending although it is refused, so that
  /// its messages get no further than the broker; a session that still keeps sending is throttled
  /// by the broker if the bus supports that.
  std::shared_ptr<link::RateLimiter> limiter = nullptr;
  core::Timer* timer = nullptr;  ///< with a rate limiter; outlives the listener
  std::size_t max_in_work = 4096;  ///< more are dropped; their senders repeat them
  /// Runs on a thread of the bus for every message, since each shows that the other side is alive;
  /// true: the message was a keep-alive.
  std::function<void(bool is_keep_alive)> on_sign_of_life = nullptr;
};

/// Passes the messages of one session to a handler. An answer goes to the request's reply subject
/// if answers may go there, otherwise to the session's other subject; pushed messages go to the
/// other subject as server-sent events. Keep-alives are filtered out. Thread-safe.
class BusListener : public link::PeerChannel {
 public:
  /// `bus`, `handler` and `clock` outlive the listener. Fails as Bus::subscribe. When the last
  /// reference to the listener is released, it stops without a grace period.
  [[nodiscard]] static core::Result<std::shared_ptr<BusListener>> start(
      Bus& bus, const link::BusSession& session, link::MessageHandler& handler,
      const core::Clock& clock, BusListenerOptions options);

  /// Handles a message from another subject as if it had come by the session's own.
  virtual void take(BusMessage message) = 0;
  /// Accepts no more messages.
  virtual void begin_stop() = 0;
  /// Calls begin_stop, waits up to `grace` until everything is answered, and tells the handler that
  /// the channel is closed. Afterwards the handler is not called any more.
  virtual void stop(std::chrono::milliseconds grace) = 0;
  /// False after begin_stop, and once the channel was closed.
  [[nodiscard]] virtual bool is_listening() const = 0;
  /// Sends a keep-alive to the other side.
  virtual void send_keep_alive() = 0;
};

/// The payload of a keep-alive.
inline constexpr std::string_view kBusKeepAlive = ": keepalive\n\n";

}  // namespace league::transport::bus
