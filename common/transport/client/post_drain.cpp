#include "common/transport/client/post_drain.h"

#include <utility>

#include "common/transport/client/connection_parts.h"

namespace league::transport::client {

bool PostDrain::add(const link::OutboundMessage& message, const link::Endpoint& endpoint,
                    HttpRequest& request) {
  if (bytes_ + message.bytes.size() > limits_.max_waiting) {
    tell(message, core::Error{core::ErrorCode::kOverloaded,
                              "more than " + std::to_string(limits_.max_waiting) +
                                  " bytes wait to be sent to " + endpoint.url(),
                              {}});
    return false;
  }
  ++unsent_;
  bytes_ += message.bytes.size();
  request.body = message.bytes.share();
  request.is_repeatable = message.is_repeatable;
  request.deadline = message.deadline;
  if (request.deadline == core::Clock::Steady::max()) {
    request.deadline = std::chrono::steady_clock::now() + limits_.default_patience;
  }
  return true;
}

void PostDrain::on_sent() {
  if (--unsent_ == 0) run_then();
}

void PostDrain::when_sent(std::function<void()> then) {
  if (unsent_ == 0) return then();
  constexpr std::chrono::seconds kLongestDrain{1};
  auto task = std::make_shared<std::function<void()>>(std::move(then));
  then_ = task;
  timer_.expires_after(kLongestDrain);
  timer_.async_wait([self = shared_from_this(), task](boost::system::error_code fault) {
    if (!fault) self->run_then();
  });
}

void PostDrain::run_then() {
  timer_.cancel();
  auto task = std::exchange(then_, {}).lock();
  if (task) (*task)();
}

}  // namespace league::transport::client
