#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/nats_library.h"

namespace league::transport::bus {

/// Makes brokers throttle publishers, by a slow consumer at each broker, created when first needed;
/// each stalls only publishers that are connected to its own broker. Thread-safe.
class NatsStalls {
 public:
  /// The settings of any connection to one broker, which must not be shared.
  using SettingsMaker = std::function<NatsSettings()>;

  /// `on_fault` is called on a thread of a consumer with the reason for which a broker refuses the
  /// connection, once per reason; a broker that is not available is not reported.
  NatsStalls(std::vector<SettingsMaker> at, std::function<void(std::string)> on_fault);
  /// Waits for attempts to connect, at most a second each. May run within `on_fault`.
  ~NatsStalls();
  NatsStalls(const NatsStalls&) = delete;
  NatsStalls& operator=(const NatsStalls&) = delete;

  /// Stalls the publishers of `subject` as soon as connections are open, until the subscription
  /// ends. Does not wait for the connections. The subscription may outlive this object. Null if
  /// there are no brokers.
  [[nodiscard]] std::unique_ptr<Bus::Subscription> begin(const std::string& subject);

 private:
  class SlowConsumer;
  const std::function<void(std::string)> on_fault_;
  std::mutex mutex_;  // guards the rest
  std::vector<SettingsMaker> at_;  ///< brokers without a consumer yet
  std::vector<std::shared_ptr<SlowConsumer>> consumers_;
};

}  // namespace league::transport::bus
