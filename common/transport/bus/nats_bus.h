#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "common/transport/bus/bus.h"

namespace league::transport {

/// How an agent says who it is: user and password, a token, or a `.creds` file of NATS. All empty:
/// as the URLs say.
struct NatsCredentials {
  std::string user = {};
  std::string password = {};
  std::string token = {};
  std::filesystem::path creds_file = {};
};

/// In PEM. `tls://` alone trusts the system's authorities.
struct NatsTls {
  std::filesystem::path ca = {};
  std::filesystem::path cert = {};  ///< ours, with `key`: both or none
  std::filesystem::path key = {};
  std::string expected_host = {};  ///< that the broker's certificate must name; empty: the URL's
};

struct NatsBusOptions {
  std::string urls;  ///< with commas between; a broker of a cluster names the others itself
  std::string name = {};  ///< for the broker's own monitoring
  NatsCredentials credentials = {};
  NatsTls tls = {};
  /// What an operator should know: a permission that is missing, messages dropped because a handler
  /// was too slow, a broker that refuses us. Without credentials. On a thread of the bus; may
  /// be empty.
  std::function<void(std::string)> on_fault = nullptr;
  /// Delivers on a thread for each subscription, and not on those that all buses of the process
  /// share: what comes by the others holds nothing up here. For few subscriptions.
  bool has_own_threads = false;
};

/// A bus over NATS brokers. Looks for a broker until it is destroyed, whatever becomes of its
/// connections: brokers that take one and close it, or refuse today what they took yesterday. What
/// is published meanwhile waits, up to 4 MiB, and goes out when a broker is found; subscriptions
/// last. A broker that does not read delays whoever publishes by two seconds at most. Takes three
/// threads per process and one per bus, however many subscriptions there are, and one more per bus
/// that has once had to look; stalling publishers takes a connection and a thread for each broker
/// that `urls` name, from the first time on. Thread-safe; the destructor may run on any thread, and
/// waits for handlers that run on others and for an attempt to connect, a second per broker.
class NatsBus final : public Bus {
 public:
  /// Tries once, which takes a second per broker at most; without success the bus is made all the
  /// same and goes on looking. kInvalidFieldValue for URLs, credentials or certificates that cannot
  /// be used, or that a broker has just refused; kInternalError in a build without libnats
  /// (LEAGUE_BUS).
  [[nodiscard]] static core::Result<std::unique_ptr<NatsBus>> connect(
      const NatsBusOptions& options);
  ~NatsBus() override;
  NatsBus(const NatsBus&) = delete;
  NatsBus& operator=(const NatsBus&) = delete;

  core::Result<void> publish(const BusMessage& message) override;
  [[nodiscard]] core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject,
                                                                      const std::string& queue,
                                                                      Handler handler) override;
  [[nodiscard]] std::unique_ptr<Subscription> stall_publishers(const std::string& subject) override;
  [[nodiscard]] std::unique_ptr<Subscription> watch(StateHandler handler) override;
  [[nodiscard]] bool is_connected() const override;
  bool flush(std::chrono::milliseconds patience) override;
  [[nodiscard]] std::size_t max_payload() const override;
  [[nodiscard]] std::string url() const override;

 private:
  class Link;
  class Stalls;
  NatsBus(std::shared_ptr<Link> link, std::shared_ptr<Stalls> stalls)
      : link_(std::move(link)), stalls_(std::move(stalls)) {}
  std::shared_ptr<Link> link_;
  std::shared_ptr<Stalls> stalls_;
};

}  // namespace league::transport
