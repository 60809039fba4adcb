#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/core/clock.h"
#include "common/core/error_code.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "common/transport/client/http_client_options.h"
#include "common/transport/client/response_reader.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/event_loop.h"

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

/// How an exchange failed.
struct HttpFault {
  core::Error error;  ///< names method, URL, phase and cause
  std::string phase;  ///< `queue`, `connect`, `send` or `receive`
  std::string cause;
};

/// Receives an answer, on the event loop's thread. May cancel its exchange from within.
class HttpSink : public ResponseSink {
 public:
  /// Called once, last: the answer is complete, or has failed. Not called after
  /// PoolExchange::cancel.
  virtual void on_end(const HttpFault* fault) = 0;
};

/// A running request. Only on the event loop's thread. Hold it weakly, since it owns its sink.
class PoolExchange {
 public:
  virtual ~PoolExchange() = default;
  /// Afterwards the sink is not called; if a connection is in use, it is closed.
  virtual void cancel() = 0;
  /// Replaces the request's deadline.
  virtual void set_deadline(core::Clock::Steady deadline) = 0;
  /// Pauses or resumes reading; data already read is still delivered.
  virtual void set_reading(bool is_on) = 0;
  /// The connection that it uses; null before there is one.
  [[nodiscard]] virtual const std::shared_ptr<const rpc::ConnectionInfo>& connection() const = 0;
  /// When the last byte of the request was passed to the system; nothing before that.
  [[nodiscard]] virtual std::optional<core::Clock::Steady> sent_at() const = 0;
};

/// Keep-alive connections to one HTTP server, and the requests that wait for one. Redirects are not
/// followed. Only on the event loop's thread (except for construction); call close() before
/// destroying it.
class HttpPool : public std::enable_shared_from_this<HttpPool> {
 public:
  HttpPool(link::EventLoop& loop, link::Endpoint endpoint, const HttpClientLimits& limits);
  ~HttpPool();
  HttpPool(const HttpPool&) = delete;
  HttpPool& operator=(const HttpPool&) = delete;

  /// Sends the request; `sink` is called later, never from within.
  std::shared_ptr<PoolExchange> start(HttpRequest request, std::shared_ptr<HttpSink> sink);
  /// Fails all exchanges with kShuttingDown at once, and closes all connections; later exchanges
  /// fail the same way.
  void close();

  /// Idle connections.
  [[nodiscard]] std::size_t idle() const { return idle_.size(); }
  /// Closes connections that have been idle since `since`.
  void close_idle(core::Clock::Steady since);

  [[nodiscard]] const link::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] link::EventLoop& loop() { return loop_; }

 private:
  class Exchange;
  struct Link;
  friend class Exchange;

  void begin_waiting();
  void on_ended(const std::shared_ptr<Exchange>& exchange);
  void put(std::unique_ptr<Link> link);
  [[nodiscard]] std::unique_ptr<Link> take();

  link::EventLoop& loop_;
  const link::Endpoint endpoint_;
  const HttpClientLimits limits_;
  std::deque<std::unique_ptr<Link>> idle_;  ///< the most recently used last
  // Weak, because the operations pending in the event loop own the exchanges: when it stops, they
  // are destroyed.
  std::deque<std::weak_ptr<Exchange>> waiting_;
  std::set<std::weak_ptr<Exchange>, std::owner_less<>> running_;
  std::size_t in_use_ = 0;  ///< counted exchanges only
  bool is_closed_ = false;
};

}  // namespace league::transport::client
