#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "common/transport/client/http_pool.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::client {

/// The requests of a connection that are on their way to the server, so that closing it can wait
/// until they are there. Only on the event loop's thread; held by shared_ptr.
class PostDrain : public std::enable_shared_from_this<PostDrain> {
 public:
  PostDrain(link::EventLoop& loop, const HttpClientLimits& limits)
      : limits_(limits), timer_(loop.context()) {}

  /// Makes the message the body of `request`, with its deadline or the default one. If too many
  /// bytes are waiting, tells the message kOverloaded and returns false.
  [[nodiscard]] bool add(const link::OutboundMessage& message, const link::Endpoint& endpoint,
                         HttpRequest& request);
  /// A request without a message.
  void add() { ++unsent_; }
  /// The head of a request's answer is here, or will not come.
  void on_sent();
  /// The answer to the message is complete.
  void on_over(const link::OutboundMessage& message) { bytes_ -= message.bytes.size(); }
  /// Runs `then` once: when the head of every answer is here, or after a second, whichever comes
  /// first.
  void when_sent(std::function<void()> then);

 private:
  void run_then();

  const HttpClientLimits limits_;
  boost::asio::steady_timer timer_;
  std::size_t unsent_ = 0;  ///< requests without an answer's head
  std::size_t bytes_ = 0;  ///< of messages without a complete answer
  std::weak_ptr<std::function<void()>> then_;  ///< the timer owns it
};

}  // namespace league::transport::client
