#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/core/result.h"
#include "common/transport/connection_cache.h"
#include "common/transport/endpoint.h"
#include "common/transport/socket.h"

namespace league::transport {

/// Opens connections to endpoints. `localhost` is tried as 127.0.0.1 and ::1, and what answered is
/// remembered for the port. Thread-safe.
class PeerConnector {
 public:
  /// Fails with kTimeout, kShuttingDown or kConnectionError; the text is the cause without the URL.
  /// A name that is neither pinned nor localhost is resolved here, which may take longer than the
  /// patience.
  [[nodiscard]] core::Result<std::unique_ptr<PeerConnection>> connect(const Endpoint& endpoint,
                                                                      const Patience& patience);

 private:
  core::Result<FileDescriptor> connect_socket(const Endpoint& endpoint, const Patience& patience);
  core::Result<FileDescriptor> connect_localhost(std::uint16_t port, const Patience& patience);

  std::atomic<std::uint64_t> next_number_ = 1;
  std::mutex mutex_;
  std::unordered_map<std::uint16_t, std::string> localhost_;  ///< what answered, by port
};

}  // namespace league::transport
