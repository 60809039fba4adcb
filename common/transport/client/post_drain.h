#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/transport/client/http_pool.h"
#include "common/transport/link/message_connection.h"

namespace league::transport {

/// The POSTs of a connection whose answers come elsewhere: each reports its status, and the
/// connection can wait until all that were begun are with the server. Only on the event loop's
/// thread.
class PostDrain {
 public:
  PostDrain(EventLoop& loop, const HttpClientLimits& limits);
  ~PostDrain();
  PostDrain(const PostDrain&) = delete;
  PostDrain& operator=(const PostDrain&) = delete;

  /// Sends `message` as the body of `request`. With too many bytes waiting it is refused with
  /// kOverloaded.
  void start(HttpPool& pool, HttpRequest request, OutboundMessage message,
             const std::string& target);
  /// Runs `then` once: when each POST has an answer's head, or after a second, whatever comes
  /// first.
  void when_sent(std::function<void()> then);

 private:
  struct State;
  class Post;
  const std::shared_ptr<State> state_;
};

}  // namespace league::transport
