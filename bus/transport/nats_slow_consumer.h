#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bus/transport/bus.h"
#include "bus/transport/nats_library.h"

namespace league::transport::bus {

/// A connection to one broker that subscribes to subjects and deliberately never reads. The
/// broker's data for it piles up, up to half of the broker's `max_pending` (64 MB by default). From
/// then on the broker stalls the publishers: it stops reading from their connections for 100 ms to
/// 1 s per message (nats-server up to 2.10.25; later versions for 10 ms per read), which costs
/// neither side anything. After its `write_deadline` (10 s by default) the broker closes the
/// connection, and we open the next. The connection exists only while it is needed, and the thread
/// from the first need on. Thread-safe.
class NatsSlowConsumer {
 public:
  /// `settings` are those of any connection to this broker, but must not be shared. `on_fault` is
  /// called on our thread with the reason for which a broker refuses the connection, once per
  /// reason; a broker that is not available is not reported.
  NatsSlowConsumer(NatsSettings settings, std::function<void(std::string)> on_fault);
  /// Waits for an attempt to connect, at most a second. May run within `on_fault`.
  ~NatsSlowConsumer();
  NatsSlowConsumer(const NatsSlowConsumer&) = delete;
  NatsSlowConsumer& operator=(const NatsSlowConsumer&) = delete;

  /// Stalls the publishers of `subject` as soon as a connection is open, until the subscription
  /// ends. Does not wait for the connection. The subscription may outlive this object.
  [[nodiscard]] std::unique_ptr<Bus::Subscription> subscribe(const std::string& subject);

 private:
  class Worker;
  const std::shared_ptr<Worker> worker_;
};

}  // namespace league::transport::bus
