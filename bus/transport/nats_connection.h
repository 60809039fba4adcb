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

class NatsLink;

/// The state of a connection; stored here for its bus and protected by the bus's lock.
struct NatsConnectionState {
  bool is_lost = false;  ///< libnats is reconnecting
  bool is_ready = false;  ///< all subscriptions are made and queued messages are sent
  bool is_closed = false;  ///< permanently
};

/// One connection of libnats, which reconnects by itself once it has connected for the first time.
/// The first connection is not left to libnats: if a broker accepts the TCP connection and
/// disappears before its greeting, libnats forgets its list of brokers and closes the connection
/// permanently. Thread-safe.
class NatsConnection {
 public:
  /// Tries each broker once, which takes a second each. `link` receives events from now on and is
  /// kept alive until the connection is closed. Returns null on failure; `status` and `why` then
  /// describe the last broker's error. Changes `options`.
  static std::shared_ptr<NatsConnection> connect(natsOptions* options,
                                                 std::shared_ptr<NatsLink> link, natsStatus& status,
                                                 std::string& why);
  ~NatsConnection() { natsConnection_Destroy(connection_); }
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  /// Must be called before the last owner releases the connection, unless it has closed by itself.
  void close() { natsConnection_Close(connection_); }
  [[nodiscard]] natsConnection* get() const { return connection_; }

  NatsConnectionState state = {};

 private:
  explicit NatsConnection(std::shared_ptr<NatsLink> link) : link_(std::move(link)) {}
  [[nodiscard]] natsStatus listen_with(natsOptions* options);

  template <void (NatsLink::*Method)(NatsConnection&)>
  static void forward(natsConnection*, void* closure) noexcept;
  static void forward_closed(natsConnection* connection, void* closure) noexcept;
  static void forward_error(natsConnection* connection, natsSubscription* subscription,
                            natsStatus status, void* closure) noexcept;

  std::shared_ptr<NatsLink> link_;
  natsConnection* connection_ = nullptr;
  std::shared_ptr<NatsConnection> self_;  ///< cleared by libnats's last callback
};

}  // namespace league::transport::bus
