#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/error_code.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "common/transport/client/http_client_options.h"
#include "common/transport/client/response_reader.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/task.h"

namespace league::transport::client {

/// One request to the server of a pool.
struct HttpRequest {
  std::string method = "POST";
  std::string target = "/";  ///< path and query
  HttpHeaders headers;  ///< beside Host, User-Agent, Accept-Encoding and Content-Length
  std::shared_ptr<const std::string> body;  ///< may be null
  core::Clock::Steady deadline = core::Clock::Steady::max();
  bool is_repeatable = false;  ///< may be sent again after a fault that leaves its fate unknown
  bool is_listening = false;  ///< not counted: it does not use up the limit of connections
};

class HttpPool;

/// A connection of a pool.
struct PooledConnection;

/// One request and its answer, for the task that asks. Redirects are not followed. Destroyed before
/// the end of the answer, it closes its connection. Only on the event loop's thread.
class HttpExchange final : private ResponseSink {
 public:
  HttpExchange(std::shared_ptr<HttpPool> pool, HttpRequest request);
  ~HttpExchange() override;
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  /// Waits until the pool lets it begin, sends the request, on a connection of the pool or a new
  /// one, and waits for the head of the answer. Errors of this and the next function name only the
  /// cause.
  link::Task<core::Result<void>> begin();
  /// Waits for more of the body and appends it to `body`. False: the answer is complete.
  link::Task<core::Result<bool>> read(std::string* body);
  /// Pauses or resumes reading from the connection.
  void set_reading(bool is_on);
  /// What it waits for now or later fails with `why` (but connecting only ends at the request's
  /// deadline).
  void interrupt(core::Error why);

  [[nodiscard]] const ResponseHead& head() const { return head_; }
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  /// `error` behind the method, the URL and the phase.
  [[nodiscard]] core::Error named(core::Error error) const;
  /// Where it is: `queue`, `connect`, `send` or `receive`.
  [[nodiscard]] std::string_view phase() const { return phase_; }
  /// The connection that it uses; null before there is one.
  [[nodiscard]] const std::shared_ptr<const rpc::ConnectionInfo>& connection() const {
    return info_;
  }
  /// When the last byte of the request was passed to the system; nothing before that.
  [[nodiscard]] std::optional<core::Clock::Steady> sent_at() const { return sent_at_; }

 private:
  friend class HttpPool;

  /// Whatever waits at the gate waits there until `go_on`.
  void hold();
  void go_on();
  link::Task<core::Result<void>> connect();
  /// Writes the request and reads the head.
  link::Task<core::Result<void>> ask();
  [[nodiscard]] bool may_be_executed() const { return was_written_ && !request_.is_repeatable; }
  [[nodiscard]] core::Error broken_off(std::string cause) const;
  /// Reads once.
  link::Task<core::Result<void>> receive();
  void on_head(const ResponseHead& head) override { head_ = head; }
  void on_body(std::string_view piece) override { body_.append(piece); }

  const std::shared_ptr<HttpPool> pool_;
  const HttpRequest request_;
  const std::string text_;  ///< of the request's head
  ResponseReader reader_;
  ResponseHead head_;
  std::string body_;  ///< what nobody has taken yet
  std::unique_ptr<PooledConnection> connection_;  ///< null when the answer is complete
  std::shared_ptr<const rpc::ConnectionInfo> info_;
  std::optional<core::Clock::Steady> sent_at_;
  std::string_view phase_ = "queue";
  std::optional<link::Gate> gate_;  ///< where it has waited for its turn, or before reading
  std::optional<core::Error> interruption_;
  bool has_place_ = false;  ///< among the counted exchanges of the pool
  bool was_written_ = false;  ///< at least a part of the request, on this connection
};

/// Keep-alive connections to one HTTP server, and the requests that wait for one. Only on the event
/// loop's thread (except for construction).
class HttpPool {
 public:
  HttpPool(link::EventLoop& loop, link::Endpoint endpoint, const HttpClientLimits& limits);
  ~HttpPool();
  HttpPool(const HttpPool&) = delete;
  HttpPool& operator=(const HttpPool&) = delete;

  /// Closes the idle connections, and from now on those that become idle.
  void close();

  /// Idle connections.
  [[nodiscard]] std::size_t idle() const { return idle_.size(); }
  /// Closes connections that have been idle since `since`.
  void close_idle(core::Clock::Steady since);

 private:
  friend class HttpExchange;

  /// Whether the exchange may begin at once; otherwise it is held until it may.
  [[nodiscard]] bool enter(HttpExchange& exchange);
  void leave(HttpExchange& exchange);
  void put(std::unique_ptr<PooledConnection> connection);
  [[nodiscard]] std::unique_ptr<PooledConnection> take();

  link::EventLoop& loop_;
  const link::Endpoint endpoint_;
  const std::string authority_;  ///< of the endpoint
  const HttpClientLimits limits_;
  std::deque<std::unique_ptr<PooledConnection>> idle_;  ///< the most recently used last
  std::deque<HttpExchange*> waiting_;
  std::size_t in_use_ = 0;  ///< counted exchanges only
  bool is_closed_ = false;
};

}  // namespace league::transport::client
