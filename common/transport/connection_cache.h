#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "common/core/clock.h"
#include "common/rpc/transport_context.h"
#include "common/transport/deadline_stream.h"
#include "common/transport/httplib_client.h"

namespace league::transport {

/// One connection to a peer, ready for the next request.
struct PeerConnection {
  std::unique_ptr<Channel> channel;
  std::unique_ptr<HttplibClient> http;
  std::shared_ptr<const rpc::ConnectionInfo> info;
  bool is_reused = false;
};

/// Keeps connections alive between calls: the most recently used of a peer goes out first, the
/// least recently used of all is closed when there are too many. Thread-safe.
class ConnectionCache {
 public:
  struct Options {
    std::size_t max_idle = 1024;
    std::chrono::milliseconds idle_timeout{30'000};
  };

  explicit ConnectionCache(const Options& options) : options_(options) {}

  /// An idle connection to `peer` that its other end has not closed, or null.
  [[nodiscard]] std::unique_ptr<PeerConnection> take(const std::string& peer);
  void put(const std::string& peer, std::unique_ptr<PeerConnection> connection);
  /// Closes what has been idle for too long.
  void close_idle();

 private:
  struct Idle {
    std::string peer;
    std::unique_ptr<PeerConnection> connection;
    core::Clock::Steady since;
  };
  using Order = std::list<Idle>;  // most recently used first

  std::unique_ptr<PeerConnection> take_any(const std::string& peer);
  std::unique_ptr<PeerConnection> remove_oldest();

  const Options options_;
  std::mutex mutex_;
  Order order_;
  std::unordered_map<std::string, std::deque<Order::iterator>> by_peer_;
};

}  // namespace league::transport
