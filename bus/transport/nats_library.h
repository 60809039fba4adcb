#pragma once

#include <nats/nats.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/nats_bus.h"
#include "common/core/result.h"

namespace league::transport::bus {

/// The parts of libnats that the bus uses. Only for nats_*.cpp: no other header includes the
/// library.

struct NatsDeleter {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
  void operator()(const char** array) const { std::free(array); }
};
template <typename T>
using NatsOwned = std::unique_ptr<T, NatsDeleter>;

/// The size of headers and payload in bytes, without framing.
[[nodiscard]] std::size_t size_of(const BusMessage& message);

/// Owns a message of libnats. Messages are destroyed later and several at once, because libnats
/// hands each one to a thread of its own, and waking that thread costs more than the message. Each
/// thread collects at most 64 messages or 256 KiB.
class NatsMessage {
 public:
  /// `bytes`: the message's size. `message` may be null.
  NatsMessage(natsMsg* message, std::size_t bytes) : message_(message), bytes_(bytes) {}
  ~NatsMessage();
  NatsMessage(const NatsMessage&) = delete;
  NatsMessage& operator=(const NatsMessage&) = delete;

 private:
  natsMsg* const message_;
  const std::size_t bytes_;
};

inline constexpr int kMaxPendingMessages = 65'536;

/// Initialises the library. May be called any number of times, from any thread.
void prepare_nats();
/// The error is kReplyTooLarge or kConnectionError.
[[nodiscard]] core::Error nats_error(natsStatus status, const std::string& what);
[[nodiscard]] BusMessage from_nats(natsMsg* message);
[[nodiscard]] natsStatus send_to_nats(natsConnection* connection, const BusMessage& message);
/// Sends a ping; true if the broker answers within `patience`.
[[nodiscard]] bool flush_nats(natsConnection* connection, std::chrono::milliseconds patience);

/// The options of libnats for connections to `urls`. Keeps the first failure. Not thread-safe.
class NatsSettings {
 public:
  NatsSettings(const std::vector<std::string>& urls, const NatsBusOptions& options);
  void take(natsStatus status, const char* what);

  [[nodiscard]] natsOptions* get() const { return options_.get(); }
  [[nodiscard]] const std::optional<core::Error>& error() const { return error_; }

 private:
  void set_tls(const NatsTls& tls, bool is_asked_for);

  NatsOwned<natsOptions> options_;
  std::optional<core::Error> error_;
};

}  // namespace league::transport::bus
