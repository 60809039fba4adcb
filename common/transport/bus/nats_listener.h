#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/transport/bus/handler_gate.h"
#include "common/transport/bus/nats_library.h"

namespace league::transport {

/// A subscription of ours, whatever line it is made at: it outlives them. Thread-safe.
class NatsListener {
 public:
  NatsListener(std::string subject, std::string queue, Bus::Handler handler)
      : subject_(std::move(subject)),
        queue_(std::move(queue)),
        gate_(std::make_shared<HandlerGate<BusMessage>>(std::move(handler))) {}

  /// Subscribes at a connection, in place of the one before. `number` grows from one connection to
  /// the next: whoever comes late with an older one changes nothing.
  [[nodiscard]] natsStatus attach(natsConnection* connection, std::uint64_t number);
  /// The handler runs no more, as of a gate that closes.
  void close() { gate_->close(); }
  /// Ends the subscription, and those that are attached afterwards. The listener is to be kept for
  /// some seconds more: libnats 3.4.1 may just be handing a message to the subscription, which it
  /// does not hold.
  void end();

  [[nodiscard]] const std::string& subject() const { return subject_; }

 private:
  std::string subject_;
  std::string queue_;
  std::shared_ptr<HandlerGate<BusMessage>> gate_;
  std::mutex mutex_;
  bool is_ended_ = false;
  std::uint64_t number_ = 0;
  NatsOwned<natsSubscription> made_;
};

}  // namespace league::transport
