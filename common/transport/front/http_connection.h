#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "common/transport/front/httplib_server.h"
#include "common/transport/front/request_scanner.h"
#include "common/transport/link/log_meter.h"
#include "common/transport/link/socket.h"
#include "common/transport/stream/stream_host.h"

namespace league::transport::front {

/// The state of one listening server, shared by its listener and connections.
struct ServerState {
  ServerState(http::HttpServerOptions server_options, link::MessageHandler& handler,
              const stream::SharedStreams& share)
      : options(std::move(server_options)),
        streams(stream::StreamHost::create(share, options, handler)),
        http(options, handler, *streams) {}

  const http::HttpServerOptions options;
  const std::shared_ptr<stream::StreamHost> streams;
  HttplibServer http;
  std::atomic<bool> is_stopping =
      false;  ///< no new connections, each answer is a connection's last
  std::atomic<bool> is_stopped = false;  ///< no request reaches the handler any more
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t connections = 0;  ///< guarded by mutex
  std::size_t serving = 0;  ///< requests that are in the handler now; guarded by mutex
};

/// One socket that is listened on. `mutex` guards `fd`.
struct Listener {
  std::uint64_t id = 0;
  std::mutex mutex;
  core::FileDescriptor fd;
  std::shared_ptr<ServerState> server;
  bool needs_rearm =
      false;  ///< accepting failed for lack of descriptors; the next sweep tries again
};

/// One accepted connection. Its owner (kOwned, obtained by `claim`) may use all members; other
/// threads may only call `claim`.
class Connection {
 public:
  enum class State {
    kOwned,  ///< a thread or the queue owns it
    kArmed,  ///< epoll watches it
    kParked,  ///< its request is with a handler that answers later
    kClosed,
  };
  using Deadline = std::chrono::steady_clock::time_point;

  Connection(std::uint64_t connection_id, core::FileDescriptor socket,
             std::shared_ptr<ServerState> its_server)
      : id(connection_id),
        fd(std::move(socket)),
        server(std::move(its_server)),
        scanner(server->options.limits) {}

  /// Takes ownership if the connection is in the state `from`; false otherwise.
  [[nodiscard]] bool claim(State from) {
    std::lock_guard lock(mutex_);
    if (state_ != from) return false;
    state_ = State::kOwned;
    return true;
  }
  /// Gives up ownership; `arm` runs under the lock, so that no other thread can claim the
  /// connection before it is done.
  template <typename Arm>
  void release(State to, Deadline until, Arm arm) {
    std::lock_guard lock(mutex_);
    state_ = to;
    deadline_ = until;
    arm();
  }
  /// As above, but keeps the deadline.
  template <typename Arm>
  void rearm(Arm arm) {
    std::lock_guard lock(mutex_);
    state_ = State::kArmed;
    arm();
  }
  /// As release, but for a connection whose request a handler is still working on.
  template <typename Arm>
  void park(std::shared_ptr<http::HttpExchange> its_exchange, Arm arm) {
    std::lock_guard lock(mutex_);
    state_ = State::kParked;
    deadline_ = Deadline::max();
    parked_ = std::move(its_exchange);
    arm();
  }
  /// The exchange that the connection waits for; null if it is not parked. Used to watch for a
  /// disconnect.
  [[nodiscard]] std::shared_ptr<http::HttpExchange> parked_exchange() {
    std::lock_guard lock(mutex_);
    return state_ == State::kParked ? parked_ : nullptr;
  }
  [[nodiscard]] bool is_overdue(Deadline now) {
    std::lock_guard lock(mutex_);
    return state_ == State::kArmed && deadline_ <= now;
  }

  const std::uint64_t id;
  core::FileDescriptor fd;
  const std::shared_ptr<ServerState> server;
  link::SocketAddress remote;
  std::string peer;  ///< the key under which it waits in the fair queue
  std::string address;  ///< under which strangers are counted, see budget_address
  std::shared_ptr<const rpc::ConnectionInfo> info;

  RequestScanner scanner;
  std::string in;
  Deadline request_begun{};
  std::string out;  ///< not yet accepted by the peer
  std::size_t sent = 0;
  std::shared_ptr<http::HttpExchange> exchange;
  std::function<void()> after_sent;
  bool close_after = false;  ///< when everything is sent
  bool is_draining = false;  ///< refused: remaining input is discarded
  bool peer_finished = false;  ///< it will send no more
  bool is_known = false;  ///< a request on it has shown a credential
  bool is_first_served = false;  ///< the current request is served before those of strangers
  bool is_held = false;  ///< its refusal is ready, but is delayed for a moment
  std::shared_ptr<link::LogMeter> meter;  ///< of the current request's sender; may be null

 private:
  std::mutex mutex_;
  State state_ = State::kOwned;
  std::shared_ptr<http::HttpExchange> parked_;  ///< when it was last parked
  Deadline deadline_{};
};

}  // namespace league::transport::front
