#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/transport/bus/bus.h"
#include "common/transport/bus/nats_library.h"

namespace league::transport {

/// A connection to one broker that takes messages and deliberately never reads them. What the
/// broker has for it piles up there, up to half of its `max_pending` (64 MB if not set), and from
/// then on the broker stalls whoever publishes: it reads nothing more from that connection for 100
/// ms to 1 s a message (nats-server up to 2.10.25; later ones for 10 ms a read), which costs
/// neither of us anything. After its `write_deadline` (10 s if not set) the broker closes the
/// connection, and we open the next. There is one only while it is needed, and one thread from the
/// first need on. Thread-safe.
class NatsSlowConsumer {
 public:
  /// `settings` as for any connection to this broker, and of its own. `on_fault` hears, on our
  /// thread and once each, why a broker refuses the connection; a broker that is absent is not
  /// worth a word.
  NatsSlowConsumer(NatsSettings settings, std::function<void(std::string)> on_fault);
  /// Waits for an attempt to connect, a second at most. May run within `on_fault`.
  ~NatsSlowConsumer();
  NatsSlowConsumer(const NatsSlowConsumer&) = delete;
  NatsSlowConsumer& operator=(const NatsSlowConsumer&) = delete;

  /// Stalls those that publish to `subject` until the subscription ends, from the moment on at
  /// which a connection stands. Does not wait for that. The subscription may outlive this object.
  [[nodiscard]] std::unique_ptr<Bus::Subscription> subscribe(const std::string& subject);

 private:
  class Worker;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace league::transport
