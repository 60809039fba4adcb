#pragma once

#include <memory>
#include <string>

#include "bus/transport/nats_library.h"

namespace league::transport::bus {

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
