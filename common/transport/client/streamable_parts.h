#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>

#include "common/transport/client/connection_parts.h"
#include "common/transport/client/streamable_http_connection.h"
#include "common/transport/link/receive_buffer.h"

namespace league::transport {

/// A request of a connection, including its answer and any attempts to continue it.
class StreamableTask : public HttpSink {
 public:
  /// The connection closes: report this, and release everything.
  virtual void stop() = 0;
  virtual void set_reading(bool is_on) = 0;
  /// Ends the task if it belongs to the request `id`.
  virtual void abandon(const rpc::Id& /*id*/) {}
};

/// Shared by the requests of one connection. Only on the event loop's thread.
struct StreamableShared {
  StreamableShared(EventLoop& its_loop, const Endpoint& its_endpoint,
                   StreamableHttpOptions its_options)
      : loop(its_loop),
        endpoint(its_endpoint),
        options(std::move(its_options)),
        pool(std::make_shared<HttpPool>(loop, endpoint, options.limits)),
        receive_buffer([this] {
          for_each_task(
              [this](StreamableTask& task) { task.set_reading(receive_buffer.is_reading()); });
        }) {}

  /// `first`, then the connection's own headers, then `more`.
  [[nodiscard]] HttpHeaders headers(HttpHeaders first, const HttpHeaders& more) const {
    first.insert(first.end(), options.headers.begin(), options.headers.end());
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
  void for_each_task(const std::function<void(StreamableTask&)>& what) const {
    for (const auto& owned : std::set(tasks)) {
      if (auto task = owned.lock()) what(*task);
    }
  }
  void on_sent() {
    if (--unsent > 0) return;
    if (auto task = std::exchange(when_sent, {}).lock()) (*task)();
  }

  EventLoop& loop;
  const Endpoint endpoint;
  const StreamableHttpOptions options;
  const std::shared_ptr<HttpPool> pool;
  ReceiveBuffer receive_buffer;
  /// Weak, because their exchanges and timers own them.
  std::set<std::weak_ptr<StreamableTask>, std::owner_less<>> tasks;
  std::size_t bytes = 0;  ///< of messages whose answers are not complete
  std::size_t unsent = 0;  ///< requests whose answer's head has not arrived
  std::weak_ptr<std::function<void()>> when_sent;  ///< owned by a timer
};

/// Sends a message and delivers its answer. Reports to the message's functions.
void start_post(const std::shared_ptr<StreamableShared>& shared, OutboundMessage message);
/// Opens the stream for the server's unsolicited messages.
void start_listening(const std::shared_ptr<StreamableShared>& shared, HttpHeaders headers,
                     StreamableHttpConnection::Done done);
/// Ends a session.
void start_delete(const std::shared_ptr<StreamableShared>& shared, const HttpHeaders& headers,
                  core::Clock::Steady deadline, StreamableHttpConnection::Done done);

}  // namespace league::transport
