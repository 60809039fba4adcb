#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/core/result.h"
#include "common/transport/bus/nats_library.h"

namespace league::transport {

class NatsConnection;

/// Receives what libnats reports about a connection, on a thread that all connections of the
/// process share: handlers must neither block nor throw. `on_closed` is called once, as the last
/// call.
class NatsConnectionWatcher {
 public:
  virtual ~NatsConnectionWatcher() = default;
  virtual void on_reconnected(NatsConnection& connection) = 0;
  virtual void on_disconnected(NatsConnection& connection) = 0;
  /// The connection is closed permanently: by `close`, or because the broker did not accept it
  /// again for the reason `why`.
  virtual void on_closed(NatsConnection& connection, const std::string& why) = 0;
  virtual void on_fault(const std::string& what) = 0;
};

/// The state of a connection; stored here for its watcher and protected by the watcher's lock.
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
  /// Tries each broker once, which takes a second each. `watcher` receives events from now on and
  /// is kept alive until the connection is closed. Returns null on failure; `status` and `why` then
  /// describe the last broker's error. Changes `options`.
  static std::shared_ptr<NatsConnection> connect(natsOptions* options,
                                                 std::shared_ptr<NatsConnectionWatcher> watcher,
                                                 natsStatus& status, std::string& why);
  ~NatsConnection() { natsConnection_Destroy(connection_); }
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  /// Must be called before the last owner releases the connection, unless it has closed by itself.
  void close() { natsConnection_Close(connection_); }
  [[nodiscard]] natsConnection* get() const { return connection_; }

  NatsConnectionState state = {};

 private:
  explicit NatsConnection(std::shared_ptr<NatsConnectionWatcher> watcher)
      : watcher_(std::move(watcher)) {}
  [[nodiscard]] natsStatus listen_with(natsOptions* options);

  template <void (NatsConnectionWatcher::*Method)(NatsConnection&)>
  static void forward(natsConnection*, void* closure) noexcept {
    auto& connection = *static_cast<NatsConnection*>(closure);
    (*connection.watcher_.*Method)(connection);
  }
  static void forward_closed(natsConnection* connection, void* closure) noexcept;
  static void forward_error(natsConnection* connection, natsSubscription* subscription,
                            natsStatus status, void* closure) noexcept;

  std::shared_ptr<NatsConnectionWatcher> watcher_;
  natsConnection* connection_ = nullptr;
  std::shared_ptr<NatsConnection> self_;  ///< cleared by libnats's last callback
};

}  // namespace league::transport
