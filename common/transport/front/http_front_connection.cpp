#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "common/transport/front/http_front.h"
#include "common/transport/http/http_refusal.h"

namespace league::transport::front {

namespace {

constexpr std::size_t kReceiveAtOnce = 64 * 1024;
constexpr std::size_t kKeptCapacity = 8 * 1024;
constexpr std::string_view kContinueResponse = "HTTP/1.1 100 Continue\r\n\r\n";

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

}  // namespace

void HttpFront::on_event(const ConnectionPtr& connection) {
  if (connection->is_held) {
    close(connection);  // nothing else is watched for it now
  } else if (!connection->out.empty()) {
    finish_sending(connection);
  } else if (connection->is_draining) {
    drain(connection);
  } else {
    receive(connection);
  }
}

void HttpFront::receive(const ConnectionPtr& connection) {
  if (connection->in.empty()) connection->request_begun = now();
  if (!receive_some(*connection) || (connection->peer_finished && connection->in.empty())) {
    close(connection);
    return;
  }
  gather(connection);
}

bool HttpFront::receive_some(Connection& connection) {
  std::array<char, kReceiveAtOnce> bytes;  // NOLINT: filled by recv
  ssize_t count = ::recv(connection.fd.get(), bytes.data(), bytes.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  connection.peer_finished = count == 0;
  connection.in.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

void HttpFront::gather(const ConnectionPtr& connection) {
  if (connection->in.empty()) {
    arm_for_reading(connection);
    return;
  }
  switch (connection->scanner.scan(connection->in)) {
    case RequestScanner::State::kComplete:
      for (std::size_t at : connection->scanner.ignored_fields()) connection->in[at] = 'X';
      limit_rate(connection);
      break;
    case RequestScanner::State::kRefused:
      refuse(connection);
      break;
    case RequestScanner::State::kIncomplete:
      if (connection->peer_finished) {
        close(connection);
        break;
      }
      send_continue(*connection);
      arm_for_reading(connection);
      break;
  }
}

void HttpFront::send_continue(Connection& connection) {
  if (!connection.scanner.take_continue()) return;
  ::send(connection.fd.get(), kContinueResponse.data(), kContinueResponse.size(), MSG_NOSIGNAL);
}

void HttpFront::refuse(const ConnectionPtr& connection) {
  connection->in.clear();
  connection->out = http::refusal_response(connection->scanner.refusal());
  connection->is_draining = true;
  finish_sending(connection);
}

void HttpFront::serve(const ConnectionPtr& connection) {
  ServerState& server = *connection->server;
  {
    std::lock_guard lock(server.mutex);
    ++server.serving;
  }
  HttplibServer::Served served;
  if (!server.is_stopped) {
    RawRequest request{std::string_view(connection->in).substr(0, connection->scanner.length()),
                       &connection->remote,
                       connection->info,
                       server.is_stopping || connection->peer_finished,
                       connection->meter,
                       &connection->scanner.head()};
    served = server.http.serve(request, connection->exchange, connection->out);
  }
  // Done before `serving` is decreased, so that the server does not stop in between. Streams end by
  // themselves.
  bool is_detached = served.take_over != nullptr;
  if (is_detached) detach(connection, served.take_over);
  bool is_unserved = !served.is_deferred && connection->out.empty();
  {
    std::lock_guard lock(server.mutex);
    --server.serving;
  }
  server.changed.notify_all();
  if (is_detached) return;
  if (served.is_deferred) {
    park(connection);
  } else if (is_unserved) {
    close(connection);
  } else {
    connection->after_sent = std::move(served.after_sent);
    connection->close_after = !served.keeps_connection;
    finish_sending(connection);
  }
}

void HttpFront::park(const ConnectionPtr& connection) {
  auto exchange = connection->exchange;
  connection->park(exchange, [&] {
    // Nothing is read meanwhile; only a disconnect is noticed.
    if (exchange->is_watched()) rearm(*connection, EPOLLRDHUP);
  });
  exchange->park([front = weak_from_this(), connection, exchange] {
    auto self = front.lock();
    if (self && connection->claim(Connection::State::kParked)) {
      self->queue_.push(connection->peer, connection, connection->is_first_served);
      self->wake_one();
    } else {
      exchange->abandon();
    }
  });
}

void HttpFront::detach(const ConnectionPtr& connection, const link::TakeOver& take_over) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection->fd.get(), nullptr);
  {
    std::lock_guard lock(mutex_);
    unauthenticated_.keep(connection->address, connection->id);
  }
  link::DetachedSocket socket;
  socket.leftover = connection->in.substr(connection->scanner.length());
  connection->in = {};
  connection->exchange.reset();
  socket.connection = connection->info;
  socket.fd = std::move(connection->fd);
  // The connection stays in the tables until the stream ends; its state keeps others from using it.
  socket.seat = std::shared_ptr<void>(nullptr, [front = weak_from_this(), connection](void*) {
    if (auto self = front.lock()) self->close(connection);
  });
  take_over(std::move(socket));
}

void HttpFront::finish_sending(const ConnectionPtr& connection) {
  auto& out = connection->out;
  while (connection->sent < out.size()) {
    ssize_t count = ::send(connection->fd.get(), out.data() + connection->sent,
                           out.size() - connection->sent, MSG_NOSIGNAL);
    if (count > 0) {
      connection->sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      arm(connection, EPOLLOUT, now() + connection->server->options.limits.write_timeout);
      return;
    } else if (errno != EINTR) {
      close(connection);
      return;
    }
  }
  connection->sent = 0;
  out.clear();
  if (out.capacity() > kKeptCapacity) out.shrink_to_fit();
  if (connection->is_draining) {
    begin_drain(connection);
  } else {
    after_response(connection);
  }
}

void HttpFront::after_response(const ConnectionPtr& connection) {
  auto after_sent = std::exchange(connection->after_sent, nullptr);
  if (connection->close_after) {
    ::shutdown(connection->fd.get(), SHUT_WR);
    close(connection);
  } else {
    auto& in = connection->in;
    in.erase(0, connection->scanner.length());
    if (in.empty() && in.capacity() > kKeptCapacity) in.shrink_to_fit();
    connection->scanner.reset();
    connection->request_begun = now();
    gather(connection);
  }
  if (after_sent) after_sent();
}

void HttpFront::begin_drain(const ConnectionPtr& connection) {
  // Closing with unread bytes would reset the connection, and the peer would not see the reason.
  ::shutdown(connection->fd.get(), SHUT_WR);
  arm(connection, EPOLLIN, now() + connection->server->options.limits.linger_timeout);
}

void HttpFront::drain(const ConnectionPtr& connection) {
  std::array<char, kReceiveAtOnce> bytes;  // NOLINT: filled by recv
  ssize_t count = ::recv(connection->fd.get(), bytes.data(), bytes.size(), 0);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
    close(connection);
    return;
  }
  connection->rearm([&] { rearm(*connection, EPOLLIN); });
}

void HttpFront::on_overdue(const ConnectionPtr& connection) {
  if (connection->is_held) {
    connection->is_held = false;
    finish_sending(connection);
    return;
  }
  bool is_half_sent =
      connection->out.empty() && !connection->is_draining && !connection->in.empty();
  if (!is_half_sent) {
    close(connection);
    return;
  }
  connection->in.clear();
  connection->out = http::refusal_response(
      {408, "the request did not arrive in full within " +
                std::to_string(connection->server->options.limits.request_timeout.count()) +
                " ms"});
  connection->is_draining = true;
  finish_sending(connection);
}

void HttpFront::arm_for_reading(const ConnectionPtr& connection) {
  const http::HttpLimits& limits = connection->server->options.limits;
  auto until = connection->in.empty() ? now() + limits.idle_timeout
                                      : connection->request_begun + limits.request_timeout;
  if (connection->server->is_stopping && connection->in.empty()) {
    close(connection);
    return;
  }
  arm(connection, EPOLLIN | EPOLLRDHUP, until);
}

void HttpFront::arm(const ConnectionPtr& connection, std::uint32_t events, Now until) {
  connection->release(Connection::State::kArmed, until, [&] { rearm(*connection, events); });
}

void HttpFront::rearm(Connection& connection, std::uint32_t events) {
  control(EPOLL_CTL_MOD, connection.fd, connection.id, events | EPOLLONESHOT);
}

void HttpFront::close(const ConnectionPtr& connection) {
  {
    std::lock_guard lock(mutex_);
    if (connections_.erase(connection->id) == 0) return;
    unauthenticated_.remove(connection->address, connection->id);
  }
  connection->release(Connection::State::kClosed, Now::max(), [] {});
  connection->fd.close();
  if (auto exchange = std::exchange(connection->exchange, nullptr)) exchange->abandon();
  if (auto after_sent = std::exchange(connection->after_sent, nullptr)) after_sent();
  ServerState& server = *connection->server;
  {
    std::lock_guard lock(server.mutex);
    --server.connections;
  }
  server.changed.notify_all();
}

}  // namespace league::transport::front
