#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <set>

#include "common/transport/client/connection_parts.h"
#include "common/transport/client/event_stream.h"
#include "common/transport/client/post_drain.h"
#include "common/transport/client/streamable_http_connection.h"
#include "common/transport/link/receive_buffer.h"

namespace league::transport::client {

class StreamableTask;

/// Shared by the requests of one connection. Only on the event loop's thread.
struct StreamableShared {
  StreamableShared(link::EventLoop& its_loop, const link::Endpoint& its_endpoint,
                   StreamableHttpOptions its_options);

  void for_each_task(const std::function<void(StreamableTask&)>& what) const;
  /// The error that every operation reports that was cut off by the end of the connection.
  [[nodiscard]] core::Error closed() const;

  link::EventLoop& loop;
  const link::Endpoint endpoint;
  const StreamableHttpOptions options;
  const std::shared_ptr<HttpPool> pool;
  const std::shared_ptr<PostDrain> posts;
  link::ReceiveBuffer receive_buffer;
  /// Weak, because their exchanges and timers own them.
  std::set<std::weak_ptr<StreamableTask>, std::owner_less<>> tasks;
};

/// A request of a connection, including its answer and any attempts to continue it.
class StreamableTask : public HttpSink, public std::enable_shared_from_this<StreamableTask> {
 public:
  /// The connection closes: report this, and release everything.
  void stop() { end(shared_->closed()); }
  void set_reading(bool is_on);
  /// Ends the task if it belongs to the request `id`.
  virtual void abandon(const rpc::Id& /*id*/) {}
  void on_head(const ResponseHead& head) override;

 protected:
  explicit StreamableTask(std::shared_ptr<StreamableShared> shared);

  /// `first`, then the connection's own headers, then `more`.
  [[nodiscard]] HttpHeaders headers(HttpHeaders first, const HttpHeaders& more) const;
  /// The GET of the stream, from the last event on.
  [[nodiscard]] HttpRequest stream_request(const HttpHeaders& more) const;
  void send(HttpRequest request);
  /// The head that has arrived is that of an event stream, which may take until `deadline`.
  void begin_events(core::Clock::Steady deadline);
  /// Passes the events in `piece` to on_event; ends with kReplyTooLarge if a limit is exceeded.
  void read_events(std::string_view piece);
  virtual void on_event(link::ReceivedMessage /*message*/) {}
  /// Calls ask_again then, unless it has ended.
  void wait_until(core::Clock::Steady then);
  virtual void ask_again() {}
  /// Releases everything, then calls on_over; a second call does nothing.
  void end(std::optional<core::Error> error);
  virtual void on_over(std::optional<core::Error> error) = 0;
  /// Keeps the beginning of the answer's body for error texts.
  void keep_excerpt(std::string_view piece);

  const std::shared_ptr<StreamableShared> shared_;
  EventStream events_;
  std::weak_ptr<PoolExchange> exchange_;
  int status_ = 0;  ///< 0: no head has arrived
  std::string media_type_;
  rpc::MessageContext context_;
  std::string body_;  ///< unless it is an event stream
  bool is_streaming_ = false;
  bool is_over_ = false;

 private:
  std::string method_;
  boost::asio::steady_timer timer_;
};

/// Sends a message and delivers its answer. Reports to the message's functions.
void start_post(const std::shared_ptr<StreamableShared>& shared, link::OutboundMessage message);
/// Opens the stream for the server's unsolicited messages.
void start_listening(const std::shared_ptr<StreamableShared>& shared, HttpHeaders headers,
                     StreamableHttpConnection::Done done);
/// Ends a session.
void start_delete(const std::shared_ptr<StreamableShared>& shared, const HttpHeaders& headers,
                  core::Clock::Steady deadline, StreamableHttpConnection::Done done);

}  // namespace league::transport::client
