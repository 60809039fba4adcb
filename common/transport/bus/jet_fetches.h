#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/transport/bus/jet_requests.h"
#include "common/transport/bus/jet_stream.h"

namespace league::transport::bus {

/// Requests to JetStream for messages of consumers. Thread-safe; handlers run within the gate.
class JetFetches : public std::enable_shared_from_this<JetFetches> {
 public:
  struct FetchRequest {
    std::string stream;
    std::string consumer;
    int batch = 1;
    std::chrono::milliseconds expires{0};
    std::function<void(StreamDelivery)> on_message;
    std::function<void(core::Result<void>)> on_end;
  };

  explicit JetFetches(JetParts parts) : parts_(std::move(parts)) {}

  void fetch(FetchRequest wanted);
  /// A broker's status message in reply to a request.
  void on_status(std::uint64_t number, const BusMessage& message);
  /// Messages keep the subject of their stream; their reply subject says which consumer they belong
  /// to.
  void on_delivery(BusMessage message);
  /// The connection to the broker is lost, and all requests with it.
  void on_lost();
  /// After the gate is closed: ends all open and later requests with kShuttingDown.
  void end();

 private:
  struct Fetch {
    FetchRequest wanted;
    core::Timer::Id due = 0;
  };

  void finish(std::uint64_t number, const core::Result<void>& how);
  /// Under the lock.
  [[nodiscard]] std::map<std::uint64_t, Fetch>::iterator find(const std::string& stream,
                                                              const std::string& consumer);

  const JetParts parts_;
  std::mutex mutex_;
  std::map<std::uint64_t, Fetch> open_;
  std::uint64_t last_number_ = 0;
  bool is_ended_ = false;
};

}  // namespace league::transport::bus
