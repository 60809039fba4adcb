#include "common/transport/http/http_exchange.h"

#include <utility>

namespace league::transport::http {

void HttpExchange::when_gone(std::function<void()> callback) {
  std::lock_guard lock(mutex_);
  if (!is_answered_ && !is_abandoned_) on_gone_ = std::move(callback);
}

bool HttpExchange::is_watched() {
  std::lock_guard lock(mutex_);
  return on_gone_ != nullptr;
}

void HttpExchange::peer_left() {
  std::function<void()> on_gone;
  {
    std::lock_guard lock(mutex_);
    on_gone = std::exchange(on_gone_, nullptr);
  }
  if (on_gone) on_gone();
}

link::ReplySlot HttpExchange::make_slot() {
  return link::ReplySlot(
      [self = shared_from_this()](link::OutboundReply reply) { self->answer(std::move(reply)); });
}

std::optional<link::OutboundReply> HttpExchange::take_reply() {
  std::lock_guard lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

void HttpExchange::park(std::function<void()> resume) {
  {
    std::lock_guard lock(mutex_);
    if (!is_answered_ && !is_stream_) {
      resume_ = std::move(resume);
      return;
    }
  }
  resume();
}

bool HttpExchange::begin_stream(ExchangeStream stream) {
  std::function<void()> next;
  {
    std::lock_guard lock(mutex_);
    if (is_answered_ || is_abandoned_ || is_stream_) return false;
    stream_ = std::move(stream);
    is_stream_ = true;
    next = std::exchange(resume_, nullptr);
  }
  if (next) next();
  return true;
}

link::TakeOver HttpExchange::take_over() {
  std::lock_guard lock(mutex_);
  return std::exchange(stream_.take_over, nullptr);
}

void HttpExchange::abandon() {
  std::function<void()> after_sent;
  std::function<void()> abandon_stream;
  std::function<void()> on_gone;
  {
    std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    resume_ = nullptr;
    on_gone = std::exchange(on_gone_, nullptr);
    if (reply_) after_sent = std::move(reply_->after_sent);
    reply_.reset();
    if (stream_.take_over) abandon_stream = std::exchange(stream_.abandon, nullptr);
  }
  if (after_sent) after_sent();
  if (abandon_stream) abandon_stream();
  if (on_gone) on_gone();
}

void HttpExchange::answer(link::OutboundReply reply) {
  std::function<void()> next;
  std::function<void(link::OutboundReply)> to_stream;
  std::function<void()> unneeded;  // destroyed without the lock
  {
    std::lock_guard lock(mutex_);
    is_answered_ = true;
    unneeded = std::exchange(on_gone_, nullptr);
    if (is_stream_) {
      to_stream = std::exchange(stream_.answer, nullptr);
    } else if (is_abandoned_) {
      next = std::move(reply.after_sent);
    } else {
      reply_ = std::move(reply);
      next = std::exchange(resume_, nullptr);
    }
  }
  // A stream takes the reply only where nothing above has moved it.
  if (to_stream) to_stream(std::move(reply));  // NOLINT(bugprone-use-after-move)
  if (next) next();
}

}  // namespace league::transport::http
