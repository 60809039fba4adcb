#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "bus/transport/jet_requests.h"
#include "bus/transport/jet_stream.h"

namespace league::transport::bus {

/// Requests to JetStream for messages of consumers. Used on one executor only; outlives its tasks.
class JetFetches {
 public:
  struct FetchRequest {
    std::string stream;
    std::string consumer;
    int batch = 1;
    std::chrono::milliseconds expires{0};
    std::function<void(StreamDelivery)> on_message;
  };

  explicit JetFetches(JetParts parts) : parts_(std::move(parts)) {}

  /// Calls `on_message` with what comes, and returns when the request has ended.
  [[nodiscard]] task::Task<core::Result<void>> fetch(FetchRequest wanted);
  /// A broker's status message in reply to a request.
  void on_status(std::uint64_t number, const BusMessage& message);
  /// Messages keep the subject of their stream; their reply subject says which consumer they belong
  /// to.
  void on_delivery(BusMessage message);
  /// The connection to the broker is lost, and all requests with it.
  void on_lost();
  /// Ends all open and later requests with kShuttingDown.
  void end();

 private:
  struct Fetch {
    FetchRequest wanted;
    std::optional<core::Result<void>> result = std::nullopt;  ///< once it has ended
    task::Latch ended{1};
  };

  /// The first result counts.
  static void finish(Fetch& fetch, core::Result<void> how);

  const JetParts parts_;
  std::map<std::uint64_t, Fetch> open_;
  std::uint64_t last_number_ = 0;
  bool is_ended_ = false;
};

}  // namespace league::transport::bus
