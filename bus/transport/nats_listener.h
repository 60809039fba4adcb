#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "bus/transport/handler_gate.h"
#include "bus/transport/nats_library.h"

namespace league::transport::bus {

/// A subscription that persists while its connections change. Thread-safe.
class NatsListener {
 public:
  NatsListener(std::string subject, std::string queue, Bus::Handler handler)
      : subject_(std::move(subject)),
        queue_(std::move(queue)),
        gate_(std::make_shared<HandlerGate<BusMessage>>(std::move(handler))) {}

  /// Subscribes on a connection, replacing the previous subscription. `number` increases from one
  /// connection to the next; a late call with an older number changes nothing.
  [[nodiscard]] natsStatus attach(natsConnection* connection, std::uint64_t number);
  /// Afterwards the handler does not run any more; see HandlerGate::close.
  void close() { gate_->close(); }
  /// Ends the current and any later subscription. The listener must be kept for a few more seconds:
  /// libnats 3.4.1 may just be passing a message to the subscription, without holding a reference.
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

}  // namespace league::transport::bus
