#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/transport/client/connection_parts.h"
#include "common/transport/client/event_stream.h"
#include "common/transport/client/streamable_http_connection.h"
#include "common/transport/link/receive_buffer.h"
#include "common/transport/link/task.h"

namespace league::transport::client {

class RequestTask;

/// What the requests of one connection share, and which of them are on their way to the server, so
/// that closing it can wait until they are there. Only on the event loop's thread.
struct RequestScope : std::enable_shared_from_this<RequestScope> {
  RequestScope(link::EventLoop& its_loop, const link::Endpoint& its_endpoint,
               StreamableHttpOptions its_options);

  void set_reading(bool is_on);
  void for_each(const std::function<void(RequestTask&)>& what) const;
  /// The error that every operation reports that was cut off by the end of the connection.
  [[nodiscard]] core::Error closed() const;
  /// `first`, then the connection's own headers, then `more`.
  [[nodiscard]] HttpHeaders headers(HttpHeaders first, const HttpHeaders& more) const;

  /// The POST of the message, until its deadline or the default one. If too many bytes are waiting,
  /// tells the message kOverloaded and returns nothing.
  [[nodiscard]] std::optional<HttpRequest> post_of(const link::OutboundMessage& message,
                                                   const std::string& target, HttpHeaders first);
  /// A request without a message begins.
  void on_begun() { ++unsent; }
  /// The head of a request's answer is here, or will not come.
  void on_sent();
  /// The answer to the message is complete.
  void on_over(const link::OutboundMessage& message) { bytes -= message.bytes.size(); }
  /// Runs `then` when the head of every answer is here, or after a second, whichever comes first.
  void when_sent(std::function<void()> then);

  link::EventLoop& loop;
  const link::Endpoint endpoint;
  const StreamableHttpOptions options;
  const std::shared_ptr<HttpPool> pool;
  link::ReceiveBuffer receive_buffer;
  std::set<std::weak_ptr<RequestTask>, std::owner_less<>> tasks;  ///< they own themselves
  std::size_t unsent = 0;  ///< requests without an answer's head
  std::size_t bytes = 0;  ///< of messages without a complete answer
  link::Gate all_sent;
};

/// A request of a connection, with its answer and the attempts to continue it. The task owns its
/// object, from `spawn` until it is over. Only on the event loop's thread.
class RequestTask : public std::enable_shared_from_this<RequestTask> {
 public:
  /// How a task ends: an error, or nothing.
  using Ending = std::optional<core::Error>;

  virtual ~RequestTask() = default;
  RequestTask(const RequestTask&) = delete;
  RequestTask& operator=(const RequestTask&) = delete;

  /// Begins run() on the event loop; the object is kept until that is over.
  void spawn();
  /// Reports the ending at once, and cancels the task. A second call does nothing.
  void end(Ending ending);
  /// Ends the task if it belongs to the request `id`.
  virtual void abandon(const rpc::Id& /*id*/) {}
  /// Back-pressure: `may_read` has changed.
  void update_reading();
  /// As of its present HttpExchange.
  [[nodiscard]] core::Error named(core::Error error) const { return exchange_->named(error); }

 protected:
  explicit RequestTask(std::shared_ptr<RequestScope> scope);

  /// All that it does. What it returns is reported, unless the task is over before; then its next
  /// wait throws.
  virtual link::Task<Ending> run() = 0;
  /// Reports the ending.
  virtual void on_over(Ending ending) = 0;
  virtual void on_message(link::ReceivedMessage /*message*/) {}
  /// An event of another type than `message`.
  virtual void on_event(const link::SseEvent& /*event*/) {}
  /// Whether events are read.
  [[nodiscard]] virtual bool may_read() const { return scope_->receive_buffer.is_reading(); }

  /// Sends the request and waits for the head of its answer, until the request's deadline, which
  /// holds for `read_body`, too.
  link::Task<Ending> ask(HttpRequest request);
  /// As HttpExchange::read, but errors have names.
  link::Task<core::Result<bool>> read(std::string* body);
  /// Reads the answer's body into body_. Ends with kReplyTooLarge if it is longer than `most`
  /// bytes.
  link::Task<Ending> read_body(std::size_t most);
  /// Reads the answer as events until its end, and until `deadline`. Ends with kReplyTooLarge if a
  /// limit is exceeded.
  link::Task<Ending> read_events(core::Clock::Steady deadline);
  /// Lets go of the connection and waits.
  link::Task<void> pause(core::Clock::Steady until);

  [[nodiscard]] bool is_fine() const { return status_ / 100 == 2; }
  /// An answer came that is no stream of events (yet).
  [[nodiscard]] bool is_plain() const { return status_ != 0 && !is_streaming_; }

  const std::shared_ptr<RequestScope> scope_;
  std::optional<HttpExchange> exchange_;  ///< the present one
  link::Alarm deadline_;
  EventStream events_;
  int status_ = 0;  ///< 0: no head has arrived
  std::string media_type_;
  rpc::MessageContext context_;
  std::string body_;

 private:
  void check() const;

  boost::asio::cancellation_signal signal_;
  bool is_streaming_ = false;
  bool is_over_ = false;
};

}  // namespace league::transport::client
