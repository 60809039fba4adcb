#pragma once

#include <nats/nats.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "common/transport/bus/bus.h"
#include "common/transport/bus/nats_bus.h"

namespace league::transport {

/// libnats as the bus uses it. Only for nats_*.cpp: the one header in which the library is seen.

struct NatsDeleter {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
  void operator()(const char** array) const { std::free(array); }
};
template <typename T>
using NatsOwned = std::unique_ptr<T, NatsDeleter>;

/// Headers and payload, without what frames them.
[[nodiscard]] std::size_t size_of(const BusMessage& message);

/// A message of libnats', which goes back to it later and with others: libnats hands each to a
/// thread of its own, and waking that one costs more than the message. What waits is the calling
/// thread's, 64 messages or 256 KiB at most.
class NatsMessage {
 public:
  /// `bytes`: its size. Null is no message.
  NatsMessage(natsMsg* message, std::size_t bytes) : message_(message), bytes_(bytes) {}
  ~NatsMessage();
  NatsMessage(const NatsMessage&) = delete;
  NatsMessage& operator=(const NatsMessage&) = delete;

 private:
  natsMsg* const message_;
  const std::size_t bytes_;
};

inline constexpr int kMaxPendingMessages = 65'536;

/// Opens the library. Any number of times, from any thread.
void prepare_nats();
/// kReplyTooLarge or kConnectionError.
[[nodiscard]] core::Error nats_error(natsStatus status, const std::string& what);
[[nodiscard]] BusMessage from_nats(natsMsg* message);
[[nodiscard]] natsStatus send_to_nats(natsConnection* connection, const BusMessage& message);
/// Whether the broker has answered a ping that was sent now, within `patience`.
[[nodiscard]] bool flush_nats(natsConnection* connection, std::chrono::milliseconds patience);

/// The options of libnats. The first failure is kept. Not thread-safe.
class NatsSettings {
 public:
  NatsSettings() {
    natsOptions* made = nullptr;
    take(natsOptions_Create(&made), "libnats");
    options_.reset(made);
  }
  void take(natsStatus status, const char* what) {
    if (status == NATS_OK || error_) return;
    const char* detail = nats_GetLastError(nullptr);
    error_ = core::Error{core::ErrorCode::kInvalidFieldValue,
                         std::string(what) + " cannot be used: " + natsStatus_GetText(status) +
                             (detail == nullptr ? "" : std::string(" (") + detail + ")"),
                         what};
  }
  void set_servers(const std::vector<std::string>& urls) {
    std::vector<const char*> pointers;
    pointers.reserve(urls.size());
    for (const auto& url : urls) pointers.push_back(url.c_str());
    take(natsOptions_SetServers(get(), pointers.data(), static_cast<int>(pointers.size())), "urls");
  }
  void set_credentials(const NatsCredentials& said);
  void set_tls(const NatsTls& tls, bool is_asked_for);
  void set_manners(const std::string& name, bool has_own_threads);

  [[nodiscard]] natsOptions* get() const { return options_.get(); }
  [[nodiscard]] const std::optional<core::Error>& error() const { return error_; }

 private:
  NatsOwned<natsOptions> options_;
  std::optional<core::Error> error_;
};

}  // namespace league::transport
