#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/transport/client/http_pool.h"
#include "common/transport/link/message_connection.h"

namespace league::transport {

/// The POSTs of a connection whose answers come by another channel: each reports its status, and
/// the connection can wait until all of them have reached the server. Only on the event loop's
/// thread.
class PostDrain {
 public:
  PostDrain(EventLoop& loop, const HttpClientLimits& limits);
  ~PostDrain();
  PostDrain(const PostDrain&) = delete;
  PostDrain& operator=(const PostDrain&) = delete;

  /// Sends `message` as the body of `request`. Fails with kOverloaded if too many bytes are
  /// waiting.
  void start(HttpPool& pool, HttpRequest request, OutboundMessage message,
             const std::string& target);
  /// Runs `then` once: when the head of every POST's answer is here, or after a second, whichever
  /// comes first.
  void when_sent(std::function<void()> then);

 private:
  struct State;
  class Post;
  const std::shared_ptr<State> state_;
};

}  // namespace league::transport
