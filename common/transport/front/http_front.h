#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/core/result.h"
#include "common/transport/front/http_connection.h"
#include "common/transport/front/unauthenticated_connections.h"
#include "common/transport/http/http_options.h"
#include "common/transport/link/request_queue.h"

namespace league::transport::front {

/// The event loop behind HttpRuntime: one epoll set and a few workers for every listener and
/// connection of the process. A worker gathers bytes without blocking; complete requests pass the
/// server's rate limiter and wait in a fair queue, in which known senders come before strangers;
/// each connection has one request served at a time. An idle, slow or half-sent connection costs a
/// descriptor and some bytes, never a thread. Thread-safe.
class HttpFront : public std::enable_shared_from_this<HttpFront> {
 public:
  explicit HttpFront(const http::HttpRuntimeOptions& options);
  ~HttpFront();
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;

  /// Begins to work; fails with kInternalError when the system refuses an epoll set.
  core::Result<void> start();
  /// Joins the workers and closes all remaining connections.
  void stop();

  std::shared_ptr<Listener> add(core::FileDescriptor socket, std::shared_ptr<ServerState> server);
  void remove(Listener& listener);
  /// Closes the server's connections that wait for a request, or, with kParked, all that no thread
  /// is working on.
  void close_connections(const ServerState& server, Connection::State up_to);

 private:
  using ConnectionPtr = std::shared_ptr<Connection>;
  using Now = Connection::Deadline;

  void run();
  void handle(std::uint64_t id);
  void sweep();
  /// As epoll_ctl; false if it fails.
  bool control(int operation, const core::FileDescriptor& fd, std::uint64_t id,
               std::uint32_t events);

  // Accepting (http_front_accept.cpp)
  void accept_all(Listener& listener);
  bool accept_one(Listener& listener);
  void admit(core::FileDescriptor socket, Listener& listener);
  [[nodiscard]] bool register_connection(const ConnectionPtr& connection);
  [[nodiscard]] bool make_room(const Connection& newcomer);
  [[nodiscard]] bool evict(std::uint64_t id);
  [[nodiscard]] bool is_counted(const Connection& connection) const;
  void arm_listener(Listener& listener, int operation);

  // One connection; the calling thread owns it (http_front_connection.cpp)
  void on_event(const ConnectionPtr& connection);
  void receive(const ConnectionPtr& connection);
  [[nodiscard]] bool receive_some(Connection& connection);
  void gather(const ConnectionPtr& connection);
  void send_continue(Connection& connection);

  // Complete requests and the server's rate limiter (http_front_limit.cpp)
  void limit_rate(const ConnectionPtr& connection);
  void refuse_for_now(const ConnectionPtr& connection, std::chrono::milliseconds retry_after,
                      bool is_held);
  void note_known(Connection& connection);

  void refuse(const ConnectionPtr& connection);
  void serve(const ConnectionPtr& connection);
  void park(const ConnectionPtr& connection);
  void detach(const ConnectionPtr& connection, const link::TakeOver& take_over);
  void finish_sending(const ConnectionPtr& connection);
  void after_response(const ConnectionPtr& connection);
  void begin_drain(const ConnectionPtr& connection);
  void drain(const ConnectionPtr& connection);
  void on_overdue(const ConnectionPtr& connection);
  void enqueue(const ConnectionPtr& connection);
  void arm(const ConnectionPtr& connection, std::uint32_t events, Now until);
  void rearm(Connection& connection, std::uint32_t events);
  void wake_one();
  void arm_for_reading(const ConnectionPtr& connection);
  void close(const ConnectionPtr& connection);

  [[nodiscard]] ConnectionPtr find(std::uint64_t id);
  [[nodiscard]] std::vector<ConnectionPtr> all_connections();

  const http::HttpRuntimeOptions options_;
  core::FileDescriptor epoll_;
  core::FileDescriptor timer_;  ///< fires when the next sweep is due
  core::FileDescriptor wake_;  ///< wakes one idle worker to check the queue
  core::FileDescriptor stop_;  ///< tells all workers to end
  std::atomic<bool> is_stopping_ = false;
  std::atomic<int> idle_workers_ = 0;
  link::RequestQueue<ConnectionPtr> queue_;

  std::mutex mutex_;  // guards the tables, never held during I/O
  std::uint64_t next_id_ = 16;
  std::unordered_map<std::uint64_t, ConnectionPtr> connections_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Listener>> listeners_;
  UnauthenticatedConnections unauthenticated_;

  std::vector<std::jthread> workers_;
};

}  // namespace league::transport::front
