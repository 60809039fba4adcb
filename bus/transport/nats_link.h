#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/handler_gate.h"
#include "bus/transport/nats_connection.h"
#include "bus/transport/nats_library.h"
#include "bus/transport/nats_slow_consumer.h"

namespace league::transport::bus {

/// A bus over NATS brokers, independent of its current connection: its subscriptions, the messages
/// that wait for a broker, and the thread that looks for a broker while there is no connection.
/// That thread is created when it is first needed. Thread-safe. Lives until libnats has reported
/// that the connection is closed.
class NatsLink final : public Bus, public std::enable_shared_from_this<NatsLink> {
 public:
  NatsLink(std::string url, NatsSettings settings, std::function<void(std::string)> on_fault,
           std::unique_ptr<NatsStalls> stalls);

  /// Called once, first. Fails with kInvalidFieldValue if a broker refuses the credentials, or we
  /// refuse its certificate, because only different options can solve that.
  core::Result<void> open();
  /// Called once, last. Waits for handlers on other threads and for an attempt to connect.
  void close();

  core::Result<void> publish(const BusMessage& message) override;
  bool flush(std::chrono::milliseconds patience) override;
  core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject,
                                                        const std::string& queue,
                                                        Handler handler) override;
  std::unique_ptr<Subscription> stall_publishers(const std::string& subject) override {
    return stalls_->begin(subject);
  }
  std::unique_ptr<Subscription> watch(StateHandler handler) override;
  [[nodiscard]] bool is_connected() const override { return is_connected_; }
  [[nodiscard]] std::size_t max_payload() const override { return max_payload_; }
  [[nodiscard]] std::string url() const override {
    std::lock_guard lock(mutex_);
    return url_;
  }

  // What libnats reports about a connection, on a thread that all connections of the process share:
  // these neither block nor throw.
  void on_reconnected(NatsConnection& connection);
  void on_disconnected(NatsConnection& connection);
  /// Called once, as the last call. The connection is closed permanently: by `close`, or because
  /// the broker did not accept it again for the reason `why`.
  void on_closed(NatsConnection& connection, const std::string& why);
  void on_fault(const std::string& what);

 private:
  using ConnectionPointer = std::shared_ptr<NatsConnection>;
  using Watcher = HandlerGate<bool>;

  void search();
  bool try_to_connect(std::chrono::milliseconds& pause);
  void take(const ConnectionPointer& connection);
  void attach(NatsListener& listener, NatsConnection& connection, std::uint64_t number);
  void learn(NatsConnection& connection);
  void send_waiting(NatsConnection& connection);
  void wait_again(std::deque<BusMessage> unsent);
  void tell();
  void start_searching();
  core::Result<void> keep_for_later(const BusMessage& message);
  void forget(const std::shared_ptr<NatsListener>& listener);
  void forget(const std::shared_ptr<Watcher>& watcher);

  std::unique_ptr<NatsStalls> stalls_;  ///< until `close`
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::string url_;
  NatsSettings settings_;  ///< used by `open`, then by the search
  std::string last_fault_;  ///< likewise
  HandlerGate<std::string> faults_;
  std::atomic<bool> is_connected_ = false;  ///< changed under the lock
  std::atomic<std::size_t> max_payload_;
  bool is_closing_ = false;
  std::deque<BusMessage> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<std::shared_ptr<NatsListener>> listeners_;
  /// Subscriptions that have ended, with the time; see NatsListener::end.
  std::deque<std::pair<std::chrono::steady_clock::time_point, std::shared_ptr<NatsListener>>>
      ended_;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  ConnectionPointer connection_;  ///< null: we are looking for a broker
  std::uint64_t line_number_ = 0;
  std::thread searcher_;
};

}  // namespace league::transport::bus
