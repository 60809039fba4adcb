#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "common/transport/front/http_front.h"
#include "common/transport/http/http_refusal.h"
#include "common/transport/link/rate_limiter.h"

namespace league::transport::front {

namespace {

constexpr int kAcceptAtOnce = 64;

/// Sends the reason in a single call, because a new socket's buffer has room for it.
void turn_away(const core::FileDescriptor& socket) {
  std::string bytes =
      http::refusal_response({503, "too many connections: close some or come back later"});
  ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket.get(), SHUT_WR);
}

}  // namespace

bool HttpFront::make_room(const Connection& newcomer) {
  constexpr std::size_t kMostTried = 16;
  const std::string& address = newcomer.address;
  std::vector<std::uint64_t> oldest;
  {
    std::lock_guard lock(mutex_);
    // Thousands of viewers may watch a league from its own machine.
    const bool has_room =
        newcomer.remote.is_loopback
            ? unauthenticated_.waiting(address) < options_.max_local_connections
            : unauthenticated_.count(address) < options_.max_connections_per_address;
    if (has_room) return true;
    oldest = unauthenticated_.oldest(address, kMostTried);
  }
  return std::ranges::any_of(oldest, [this](std::uint64_t id) { return evict(id); });
}

bool HttpFront::evict(std::uint64_t id) {
  ConnectionPtr connection = find(id);
  if (!connection || !connection->claim(Connection::State::kArmed)) return false;
  if (!connection->is_held && (!connection->out.empty() || connection->is_draining)) {
    connection->rearm([&] { rearm(*connection, connection->out.empty() ? EPOLLIN : EPOLLOUT); });
    return false;
  }
  // A connection between two requests is closed without a text, because the client would take the
  // text for the answer to its next request.
  if (!connection->in.empty()) turn_away(connection->fd);
  close(connection);
  return true;
}

std::shared_ptr<Listener> HttpFront::add(core::FileDescriptor socket,
                                         std::shared_ptr<ServerState> server) {
  auto listener = std::make_shared<Listener>();
  listener->fd = std::move(socket);
  listener->server = std::move(server);
  {
    std::lock_guard lock(mutex_);
    listener->id = next_id_++;
    listeners_.emplace(listener->id, listener);
  }
  std::lock_guard lock(listener->mutex);
  arm_listener(*listener, EPOLL_CTL_ADD);
  return listener;
}

void HttpFront::remove(Listener& listener) {
  {
    std::lock_guard lock(mutex_);
    listeners_.erase(listener.id);
  }
  std::lock_guard lock(listener.mutex);
  listener.fd.close();
}

void HttpFront::arm_listener(Listener& listener, int operation) {
  if (listener.fd.is_open()) control(operation, listener.fd, listener.id, EPOLLIN | EPOLLONESHOT);
}

void HttpFront::accept_all(Listener& listener) {
  std::lock_guard lock(listener.mutex);
  if (!listener.fd.is_open()) return;
  for (int i = 0; i < kAcceptAtOnce; ++i) {
    // Peers that keep connecting must not keep the lock from `remove`.
    if (listener.server->is_stopping) return;
    if (!accept_one(listener)) break;
  }
  if (!listener.needs_rearm) arm_listener(listener, EPOLL_CTL_MOD);
}

bool HttpFront::accept_one(Listener& listener) {
  core::FileDescriptor socket(
      ::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    admit(std::move(socket), listener);
    return true;
  }
  if (errno == ECONNABORTED || errno == EINTR) return true;
  // Out of descriptors or memory: the peer waits in the backlog until the next sweep, so that no
  // thread spins.
  listener.needs_rearm = errno != EAGAIN;
  return false;
}

void HttpFront::admit(core::FileDescriptor socket, Listener& listener) {
  link::set_no_delay(socket.get());
  link::SocketAddress remote = link::remote_address(socket.get());
  std::string local = link::local_address(socket.get()).text();
  std::uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    id = next_id_++;
  }
  auto connection = std::make_shared<Connection>(id, std::move(socket), listener.server);
  connection->remote = remote;
  std::string number = std::to_string(id);
  connection->peer = remote.is_loopback ? number : remote.ip;
  connection->address = link::budget_address(remote.ip);
  connection->info = std::make_shared<rpc::ConnectionInfo>(
      rpc::ConnectionInfo{remote.text(), std::move(local), "http-" + number, std::nullopt});
  if (!register_connection(connection)) {
    turn_away(connection->fd);
    return;
  }
  auto until = std::chrono::steady_clock::now() + listener.server->options.limits.idle_timeout;
  connection->release(Connection::State::kArmed, until, [&] {
    control(EPOLL_CTL_ADD, connection->fd, id, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT);
  });
}

bool HttpFront::is_counted(const Connection& connection) const {
  return !connection.remote.is_loopback || connection.server->options.limiter != nullptr;
}

bool HttpFront::register_connection(const ConnectionPtr& connection) {
  if (is_counted(*connection) && !make_room(*connection)) return false;
  {
    std::lock_guard lock(mutex_);
    if (connections_.size() >= options_.max_connections) return false;
    if (is_counted(*connection)) unauthenticated_.add(connection->address, connection->id);
    connections_.emplace(connection->id, connection);
  }
  std::lock_guard lock(connection->server->mutex);
  ++connection->server->connections;
  return true;
}

}  // namespace league::transport::front
