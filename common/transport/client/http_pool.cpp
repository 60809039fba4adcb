#include "common/transport/client/http_pool.h"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "common/core/text.h"
#include "common/transport/client/dialer.h"

namespace league::transport::client {

namespace {

namespace asio = boost::asio;
using SystemError = boost::system::error_code;

constexpr std::size_t kReadSize = 8 * 1024;

std::string head_of(const HttpRequest& request, const link::Endpoint& endpoint) {
  std::string head = request.method + " " + request.target +
                     " HTTP/1.1\r\nHost: " + endpoint.authority() +
                     "\r\nAccept-Encoding: identity\r\n";
  const bool is_relayed = std::ranges::any_of(request.headers, [](const auto& field) {
    return core::equals_ignoring_case(field.first, "User-Agent");
  });
  if (!is_relayed) head += "User-Agent: league/" LEAGUE_VERSION "\r\n";
  for (const auto& field : request.headers) {
    if (is_sendable(field)) head += field.first + ": " + field.second + "\r\n";
  }
  if (request.body) {
    head += "Content-Length: " + std::to_string(request.body->size()) + "\r\n";
  }
  return head + "\r\n";
}

/// Data or an end of stream although no answer is due: the peer no longer uses the connection.
bool is_given_up(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

}  // namespace

struct HttpPool::Link {
  PeerStream stream;
  std::shared_ptr<const rpc::ConnectionInfo> info;
  core::Clock::Steady idle_since{};
};

/// connect → write → read, on a connection of the pool or a new one.
class HttpPool::Exchange final : public PoolExchange,
                                 public ResponseSink,
                                 public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<HttpPool> pool, HttpRequest request, std::shared_ptr<HttpSink> sink)
      : pool_(std::move(pool)),
        request_(std::move(request)),
        sink_(std::move(sink)),
        head_(head_of(request_, pool_->endpoint_)),
        reader_(pool_->limits_.max_head),
        timer_(pool_->loop_.context()) {}

  [[nodiscard]] bool is_counted() const { return !request_.is_listening; }
  [[nodiscard]] bool is_over() const { return sink_ == nullptr; }

  void watch() { set_deadline(request_.deadline); }

  void begin() {
    if (is_over()) return;
    link_ = pool_->take();
    is_reused_ = link_ != nullptr;
    link_ ? write() : connect();
  }

  void cancel() override { end(); }

  void set_deadline(core::Clock::Steady deadline) override {
    if (is_over()) return;
    timer_.expires_at(deadline);
    // Needed even without a deadline: while an exchange does not read, only this wait keeps it
    // alive.
    timer_.async_wait([self = shared_from_this()](SystemError fault) {
      bool is_old = self->timer_.expiry() > std::chrono::steady_clock::now();
      if (!fault && !is_old) self->fail(core::ErrorCode::kTimeout, "the deadline has passed");
    });
  }

  void set_reading(bool is_on) override {
    is_reading_ = is_on;
    if (is_on && is_read_owed_ && !is_over()) {
      is_read_owed_ = false;
      read();
    }
  }

  [[nodiscard]] const std::shared_ptr<const rpc::ConnectionInfo>& connection() const override {
    return info_;
  }
  [[nodiscard]] std::optional<core::Clock::Steady> sent_at() const override { return sent_at_; }

  void shut_down() { fail(core::ErrorCode::kShuttingDown, "the connection was closed"); }

 private:
  void fail(core::ErrorCode code, std::string_view cause) {
    if (is_over()) return;
    HttpFault fault{{code,
                     request_.method + " of " + pool_->endpoint_.url() + " failed at " + phase_ +
                         ": " + std::string(cause),
                     {}},
                    phase_,
                    std::string(cause)};
    auto sink = sink_;
    end();
    sink->on_end(&fault);
  }

  void connect() {
    phase_ = "connect";
    cancel_dial_ = dial(pool_->loop_.context(), pool_->endpoint_, timer_.expiry(),
                        [self = shared_from_this()](core::Result<Dialed> dialed) {
                          self->on_connected(std::move(dialed));
                        });
  }

  void on_connected(core::Result<Dialed> dialed) {
    if (is_over()) return;
    if (!dialed) return fail(dialed.error().code, dialed.error().message);
    link_ = std::make_unique<Link>(Link{std::move(dialed->stream), std::move(dialed->info)});
    write();
  }

  void write() {
    phase_ = "send";
    info_ = link_->info;
    PeerStream::Pieces parts{asio::buffer(head_)};
    if (request_.body) parts[1] = asio::buffer(*request_.body);
    link_->stream.write(parts, [self = shared_from_this()](SystemError fault, std::size_t count) {
      self->on_written(fault, count);
    });
  }

  void on_written(SystemError fault, std::size_t count) {
    if (is_over()) return;
    was_written_ = count > 0;
    if (fault) return on_broken(fault.message());
    sent_at_ = std::chrono::steady_clock::now();
    phase_ = "receive";
    buffer_.resize(kReadSize);
    read();
  }

  void read() {
    if (!is_reading_) {
      is_read_owed_ = true;
      return;
    }
    link_->stream.read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](SystemError fault, std::size_t count) {
                              self->on_read(fault, count);
                            });
  }

  void on_read(SystemError fault, std::size_t count) {
    if (is_over()) return;
    if (count > 0 && !reader_.feed({buffer_.data(), count}, *this)) {
      return fail(core::ErrorCode::kConnectionError, reader_.fault());
    }
    if (is_over()) return;  // the sink has cancelled the exchange
    if (fault && reader_.has_head() && reader_.finish()) return succeed(false);
    if (reader_.is_done()) return succeed(!fault && reader_.keeps_connection());
    if (!fault) return read();
    bool is_end = fault == asio::error::eof || fault == asio::ssl::error::stream_truncated;
    on_broken(!is_end               ? fault.message()
              : reader_.has_begun() ? "the peer closed the connection in the middle of its answer"
                                    : "the peer closed the connection without an answer");
  }

  /// The peer may have closed a reused connection before it read the request, or while it handled
  /// it. Only a request of which nothing was written, or one that is harmless twice, is sent again,
  /// on a new connection.
  void on_broken(const std::string& cause) {
    const bool may_be_executed = was_written_ && !request_.is_repeatable;
    if (!is_reused_ || reader_.has_begun() || may_be_executed) {
      return fail(core::ErrorCode::kConnectionError,
                  may_be_executed ? cause + "; the request may have been executed" : cause);
    }
    is_reused_ = false;
    was_written_ = false;
    link_ = nullptr;
    connect();
  }

  void succeed(bool keeps_connection) {
    auto sink = sink_;
    if (keeps_connection) pool_->put(std::move(link_));
    end();
    sink->on_end(nullptr);
  }

  void end() {
    if (is_over()) return;
    sink_ = nullptr;
    timer_.cancel();
    if (cancel_dial_) cancel_dial_();
    if (link_) link_->stream.close();
    pool_->on_ended(shared_from_this());
  }

  void on_head(const ResponseHead& head) override {
    if (auto sink = sink_) sink->on_head(head);
  }
  void on_body(std::string_view piece) override {
    if (auto sink = sink_) sink->on_body(piece);
  }

  const std::shared_ptr<HttpPool> pool_;
  const HttpRequest request_;
  std::shared_ptr<HttpSink> sink_;  ///< null once the exchange is over
  const std::string head_;
  ResponseReader reader_;
  asio::steady_timer timer_;
  std::function<void()> cancel_dial_;
  std::unique_ptr<Link> link_;
  std::shared_ptr<const rpc::ConnectionInfo> info_;
  std::optional<core::Clock::Steady> sent_at_;
  std::vector<char> buffer_;
  std::string phase_ = "queue";
  bool is_reused_ = false;
  bool was_written_ = false;  ///< at least a part of the request, on this connection
  bool is_reading_ = true;
  bool is_read_owed_ = false;
};

HttpPool::HttpPool(link::EventLoop& loop, link::Endpoint endpoint, const HttpClientLimits& limits)
    : loop_(loop), endpoint_(std::move(endpoint)), limits_(limits) {}

HttpPool::~HttpPool() = default;

std::shared_ptr<PoolExchange> HttpPool::start(HttpRequest request, std::shared_ptr<HttpSink> sink) {
  auto exchange =
      std::make_shared<Exchange>(shared_from_this(), std::move(request), std::move(sink));
  if (is_closed_) {
    loop_.post([exchange] { exchange->shut_down(); });
    return exchange;
  }
  exchange->watch();
  if (!exchange->is_counted()) {
    running_.insert(exchange);
    exchange->begin();
  } else {
    waiting_.push_back(exchange);
    begin_waiting();
  }
  return exchange;
}

void HttpPool::begin_waiting() {
  while (!waiting_.empty() && in_use_ < limits_.max_connections) {
    auto next = waiting_.front().lock();
    waiting_.pop_front();
    if (!next) continue;
    ++in_use_;
    running_.insert(next);
    next->begin();
  }
}

void HttpPool::on_ended(const std::shared_ptr<Exchange>& exchange) {
  if (running_.erase(exchange) > 0) {
    if (exchange->is_counted()) --in_use_;
  } else {
    std::erase_if(waiting_, [&](const auto& waiting) { return waiting.lock() == exchange; });
  }
  if (!is_closed_) begin_waiting();
}

std::unique_ptr<HttpPool::Link> HttpPool::take() {
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

void HttpPool::put(std::unique_ptr<Link> link) {
  if (is_closed_) return;
  link->idle_since = std::chrono::steady_clock::now();
  idle_.push_back(std::move(link));
  if (idle_.size() > limits_.max_connections) idle_.pop_front();
}

void HttpPool::close() {
  is_closed_ = true;
  idle_.clear();
  auto running = std::exchange(running_, {});
  auto waiting = std::exchange(waiting_, {});
  for (const auto& owned : running) {
    if (auto exchange = owned.lock()) exchange->shut_down();
  }
  for (const auto& owned : waiting) {
    if (auto exchange = owned.lock()) exchange->shut_down();
  }
}

}  // namespace league::transport::client
