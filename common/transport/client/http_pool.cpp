#include "common/transport/client/http_pool.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <utility>

#include "common/core/text.h"
#include "common/transport/client/dialer.h"

namespace league::transport::client {

namespace {

namespace asio = boost::asio;
using link::Task;

constexpr std::size_t kReadSize = 8 * 1024;

std::string head_of(const HttpRequest& request, std::string_view authority) {
  constexpr std::size_t kUsualSize = 512;
  std::string head;
  head.reserve(kUsualSize);
  head.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ");
  head.append(authority).append("\r\nAccept-Encoding: identity\r\n");
  bool is_relayed = false;
  for (const auto& field : request.headers) {
    is_relayed = is_relayed || core::equals_ignoring_case(field.first, "User-Agent");
    if (!is_sendable(field)) continue;
    head.append(field.first).append(": ").append(field.second).append("\r\n");
  }
  if (!is_relayed) head.append("User-Agent: league/" LEAGUE_VERSION "\r\n");
  if (request.body) {
    head.append("Content-Length: ");
    core::append_number(head, request.body->size());
    head.append("\r\n");
  }
  return head.append("\r\n");
}

/// Data or an end of stream although no answer is due: the peer no longer uses the connection.
bool is_given_up(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

}  // namespace

struct PooledConnection {
  PeerStream stream;
  std::shared_ptr<const rpc::ConnectionInfo> info;
  std::unique_ptr<std::array<char, kReadSize>> buffer =
      std::make_unique_for_overwrite<std::array<char, kReadSize>>();
  core::Clock::Steady idle_since{};
};

HttpExchange::HttpExchange(std::shared_ptr<HttpPool> pool, HttpRequest request)
    : pool_(std::move(pool)),
      request_(std::move(request)),
      text_(head_of(request_, pool_->authority_)),
      reader_(pool_->limits_.max_head) {}

HttpExchange::~HttpExchange() { pool_->leave(*this); }

/// The peer may have closed a reused connection before it read the request, or while it handled it.
/// Only a request of which nothing was written, or one that is harmless twice, is sent again, on a
/// new connection.
Task<core::Result<void>> HttpExchange::begin() {
  if (!pool_->enter(*this)) co_await gate_->pass();
  if (interruption_) co_return *interruption_;
  connection_ = pool_->take();
  if (connection_) {
    auto asked = co_await ask();
    if (asked || reader_.has_begun() || may_be_executed() || interruption_) co_return asked;
  }
  if (auto connected = co_await connect(); !connected) co_return connected;
  co_return co_await ask();
}

void HttpExchange::hold() {
  if (interruption_) return;
  if (!gate_) gate_.emplace(pool_->loop_.context());
  gate_->close();
}

void HttpExchange::go_on() {
  if (gate_) gate_->open();
}

void HttpExchange::set_reading(bool is_on) { is_on ? go_on() : hold(); }

void HttpExchange::interrupt(core::Error why) {
  interruption_ = std::move(why);
  go_on();
  if (connection_) connection_->stream.close();
}

core::Error HttpExchange::named(core::Error error) const {
  error.message = request_.method + " of " + pool_->endpoint_.url() + " failed at " +
                  std::string(phase_) + ": " + error.message;
  return error;
}

core::Error HttpExchange::broken_off(std::string cause) const {
  if (interruption_) return *interruption_;
  if (may_be_executed()) cause += "; the request may have been executed";
  return {core::ErrorCode::kConnectionError, std::move(cause), {}};
}

Task<core::Result<void>> HttpExchange::connect() {
  phase_ = "connect";
  connection_ = nullptr;
  was_written_ = false;
  auto dialed = co_await dial(&pool_->loop_.context(), pool_->endpoint_, request_.deadline);
  if (!dialed) co_return dialed.error();
  if (interruption_) co_return *interruption_;
  connection_ = std::make_unique<PooledConnection>(
      PooledConnection{std::move(dialed->stream), std::move(dialed->info)});
  co_return core::Result<void>();
}

Task<core::Result<void>> HttpExchange::ask() {
  phase_ = "send";
  info_ = connection_->info;
  PeerStream::Pieces parts{asio::buffer(text_)};
  if (request_.body) parts[1] = asio::buffer(*request_.body);
  const auto written = co_await connection_->stream.write(parts);
  was_written_ = written.count > 0;
  if (written.fault) co_return broken_off(written.fault.message());
  sent_at_ = std::chrono::steady_clock::now();
  phase_ = "receive";
  while (!reader_.has_head()) {
    if (auto received = co_await receive(); !received) co_return received;
  }
  co_return core::Result<void>();
}

Task<core::Result<void>> HttpExchange::receive() {
  auto& buffer = *connection_->buffer;
  const auto read = co_await connection_->stream.read_some(asio::buffer(buffer));
  if (read.count > 0 && !reader_.feed({buffer.data(), read.count}, *this))
    co_return core::Error{core::ErrorCode::kConnectionError, reader_.fault(), {}};
  const bool is_cut_off = interruption_ || read.fault == asio::error::operation_aborted;
  const bool is_ended_by_close =
      read.fault && !is_cut_off && reader_.has_head() && reader_.finish();
  if (reader_.is_done() || is_ended_by_close) {
    auto used = std::move(connection_);
    if (!read.fault && reader_.keeps_connection()) pool_->put(std::move(used));
    co_return core::Result<void>();
  }
  if (!read.fault) co_return core::Result<void>();
  const bool is_end =
      read.fault == asio::error::eof || read.fault == asio::ssl::error::stream_truncated;
  co_return broken_off(!is_end ? read.fault.message()
                       : reader_.has_begun()
                           ? "the peer closed the connection in the middle of its answer"
                           : "the peer closed the connection without an answer");
}

Task<core::Result<bool>> HttpExchange::read(std::string* body) {
  while (body_.empty() && connection_) {
    if (gate_) co_await gate_->pass();
    if (auto received = co_await receive(); !received) co_return received.error();
  }
  if (body_.empty()) co_return false;
  if (body->empty()) {
    body->swap(body_);
  } else {
    body->append(std::exchange(body_, {}));
  }
  co_return true;
}

HttpPool::HttpPool(link::EventLoop& loop, link::Endpoint endpoint, const HttpClientLimits& limits)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      authority_(endpoint_.authority()),
      limits_(limits) {}

HttpPool::~HttpPool() = default;

bool HttpPool::enter(HttpExchange& exchange) {
  if (exchange.request_.is_listening) return true;
  exchange.has_place_ = waiting_.empty() && in_use_ < limits_.max_connections;
  if (exchange.has_place_) {
    ++in_use_;
  } else {
    waiting_.push_back(&exchange);
    exchange.hold();
  }
  return exchange.has_place_;
}

void HttpPool::leave(HttpExchange& exchange) {
  if (exchange.has_place_) {
    --in_use_;
  } else {
    std::erase(waiting_, &exchange);
  }
  while (!waiting_.empty() && in_use_ < limits_.max_connections) {
    HttpExchange& next = *waiting_.front();
    waiting_.pop_front();
    ++in_use_;
    next.has_place_ = true;
    next.go_on();
  }
}

std::unique_ptr<PooledConnection> HttpPool::take() {
  close_idle(std::chrono::steady_clock::now() - limits_.connection_idle);
  while (!idle_.empty()) {
    auto link = std::move(idle_.back());
    idle_.pop_back();
    if (!is_given_up(link->stream.next_layer().native_handle())) return link;
  }
  return nullptr;
}

void HttpPool::close_idle(core::Clock::Steady since) {
  while (!idle_.empty() && idle_.front()->idle_since <= since) idle_.pop_front();
}

void HttpPool::put(std::unique_ptr<PooledConnection> link) {
  if (is_closed_) return;
  link->idle_since = std::chrono::steady_clock::now();
  idle_.push_back(std::move(link));
  if (idle_.size() > limits_.max_connections) idle_.pop_front();
}

void HttpPool::close() {
  is_closed_ = true;
  idle_.clear();
}

}  // namespace league::transport::client
