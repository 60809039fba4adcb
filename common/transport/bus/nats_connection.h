#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/core/result.h"
#include "common/transport/bus/nats_library.h"

namespace league::transport {

class NatsConnection;

/// What libnats reports about a connection, on a thread that all connections of the process share:
/// handlers must neither block nor throw. `on_closed` comes once, and nothing comes after it.
class NatsConnectionWatcher {
 public:
  virtual ~NatsConnectionWatcher() = default;
  virtual void on_reconnected(NatsConnection& connection) = 0;
  virtual void on_disconnected(NatsConnection& connection) = 0;
  /// For good: by `close`, or because the broker would not have us again, as `why` says.
  virtual void on_closed(NatsConnection& connection, const std::string& why) = 0;
  virtual void on_fault(const std::string& what) = 0;
};

/// What is known of a connection; kept here for its watcher, under the watcher's lock.
struct NatsConnectionState {
  bool is_lost = false;  ///< libnats is reconnecting
  bool is_ready = false;  ///< all subscriptions are made, and what waited has been sent
  bool is_closed = false;  ///< for good
};

/// One connection of libnats, which reconnects by itself from its first success on. The first
/// success is not left to libnats: where a broker takes the TCP connection and is gone before it
/// has greeted, libnats forgets its list of brokers and closes the connection for good.
/// Thread-safe.
class NatsConnection {
 public:
  /// Tries each broker once, which takes a second each. `watcher` hears from now on, and is kept
  /// until the connection is closed. Null without success; then `status` and `why` say what the
  /// last broker did. Changes `options`.
  static std::shared_ptr<NatsConnection> connect(natsOptions* options,
                                                 std::shared_ptr<NatsConnectionWatcher> watcher,
                                                 natsStatus& status, std::string& why);
  ~NatsConnection() { natsConnection_Destroy(connection_); }
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  /// To be called before the last owner lets go, unless it was closed for us.
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
  std::shared_ptr<NatsConnection> self_;  ///< until libnats has said its last
};

}  // namespace league::transport
