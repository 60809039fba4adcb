#include "common/transport/http_exchange.h"

#include <utility>

namespace league::transport {

ReplySlot HttpExchange::make_slot() {
  return ReplySlot(
      [self = shared_from_this()](OutboundReply reply) { self->answer(std::move(reply)); });
}

std::optional<OutboundReply> HttpExchange::take_reply() {
  std::lock_guard lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

void HttpExchange::park(std::function<void()> resume) {
  {
    std::lock_guard lock(mutex_);
    if (!is_answered_) {
      resume_ = std::move(resume);
      return;
    }
  }
  resume();
}

void HttpExchange::abandon() {
  std::function<void()> after_sent;
  {
    std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    resume_ = nullptr;
    if (reply_) after_sent = std::move(reply_->after_sent);
    reply_.reset();
  }
  if (after_sent) after_sent();
}

void HttpExchange::answer(OutboundReply reply) {
  std::function<void()> next;
  {
    std::lock_guard lock(mutex_);
    is_answered_ = true;
    if (is_abandoned_) {
      next = std::move(reply.after_sent);
    } else {
      reply_ = std::move(reply);
      next = std::exchange(resume_, nullptr);
    }
  }
  if (next) next();
}

}  // namespace league::transport
