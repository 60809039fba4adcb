#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/core/clock.h"
#include "common/transport/line/line_core.h"

namespace league::transport::line {
namespace {

constexpr std::size_t kChunk = 32 * 1024;
/// After this many messages of one peer, other peers have their turn.
constexpr int kMessagesAtOnce = 8;

}  // namespace

void LineCore::read_more() {
  if (is_waiting_to_read_ || has_input_ended_ || !wants_reading_ || life() != Life::kOpen) return;
  is_waiting_to_read_ = true;
  in_.async_wait(Descriptor::wait_read,
                 [self = shared_from_this()](const boost::system::error_code& fault) {
                   self->is_waiting_to_read_ = false;
                   // Files cannot be waited for (operation_not_supported); they are always ready.
                   if (fault == boost::asio::error::operation_aborted) return;
                   if (self->wants_reading_ && self->life() == Life::kOpen) self->read_available();
                 });
}

void LineCore::read_available() {
  if (read_chunk() || has_input_ended_) {
    deliver();
  } else {
    read_more();
  }
}

/// Reads once without waiting; false when nothing came.
bool LineCore::read_chunk() {
  std::array<char, kChunk> chunk;  // NOLINT: filled by read
  ssize_t size = 0;
  do {
    size = ::read(in_.native_handle(), chunk.data(), chunk.size());
  } while (size < 0 && errno == EINTR);
  if (size > 0) {
    splitter_.append({chunk.data(), static_cast<std::size_t>(size)});
    return true;
  }
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (size < 0 && errno != ECONNRESET && errno != EIO) {
    end({core::ErrorCode::kConnectionError,
         "the peer cannot be read from: " + link::system_error_text(errno),
         {}});
  }
  has_input_ended_ = true;
  return false;
}

void LineCore::deliver_one(std::string line) {
  link::ReceivedMessage message;
  message.bytes = std::move(line);
  message.context = rpc::MessageContext::now(core::SystemClock(), received_, context_);
  receiver_->on_message(std::move(message));
}

void LineCore::deliver() {
  if (is_delivery_posted_) return;
  for (int i = 0; i < kMessagesAtOnce; ++i) {
    if (!wants_reading_ || !receiver_ || life() != Life::kOpen) return;
    auto line = splitter_.next();
    if (!line) {
      if (!pass_over_skipped()) return after_lines();
      partial_since_.reset();
      continue;
    }
    partial_since_.reset();
    deliver_one(std::move(*line));
  }
  is_delivery_posted_ = true;
  loop_.post([self = shared_from_this()] {
    self->is_delivery_posted_ = false;
    self->deliver();
  });
}

/// Reports a line that was too long; false if there was none.
bool LineCore::pass_over_skipped() {
  auto skipped = splitter_.take_skipped();
  if (!skipped) return false;
  receiver_->on_oversized(*skipped,
                          "a line is longer than " + std::to_string(limits_.max_line) + " bytes");
  return true;
}

/// Called when all complete lines were delivered.
void LineCore::after_lines() {
  if (has_input_ended_) return end_input();
  watch_partial_line();
  read_more();
}

void LineCore::watch_partial_line() {
  if (!splitter_.has_partial()) {
    partial_since_.reset();
    return;
  }
  if (!partial_since_) partial_since_ = std::chrono::steady_clock::now();
  if (std::exchange(is_line_timer_set_, true)) return;
  line_timer_.expires_at(*partial_since_ + limits_.line_timeout);
  line_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& fault) {
    self->is_line_timer_set_ = false;
    if (fault || self->life() != Life::kOpen || !self->partial_since_) return;
    auto now = std::chrono::steady_clock::now();
    if (!self->wants_reading_) self->partial_since_ = now;  // our side has paused reading
    if (now < *self->partial_since_ + self->limits_.line_timeout) {
      return self->watch_partial_line();
    }
    self->fail_line("a line was begun and not ended within " +
                    std::to_string(self->limits_.line_timeout.count()) + " ms");
  });
}

void LineCore::fail_line(const std::string& why) {
  core::Error error{core::ErrorCode::kConnectionError, "the peer was dropped: " + why, {}};
  if (explains_faults_) {
    link::OutboundMessage message;
    message.bytes =
        R"({"jsonrpc":"2.0","error":{"code":-32600,"message":")" + why + R"("},"id":null})";
    send(std::move(message));
  }
  close_for(std::move(error));
}

void LineCore::end_input() {
  if (std::exchange(is_input_end_told_, true)) return;
  if (auto last = splitter_.rest()) {
    deliver_one(std::move(*last));
  } else {
    (void)pass_over_skipped();
  }
  if (!receiver_) return;
  if (auto function = std::exchange(input_closed_, nullptr)) {
    is_end_explained_ = true;
    return function();
  }
  if (receiver_->on_input_end()) return;
  // Answers that are already queued are still sent.
  close_for({core::ErrorCode::kConnectionError, "the peer closed the connection", {}});
}

/// Keeps a socket open a little longer: if it were closed with unread input, it would be reset, and
/// the peer would lose the last data sent to it.
void LineCore::linger() {
  boost::system::error_code ignored;
  if (::shutdown(in_.native_handle(), SHUT_WR) != 0) {
    in_.close(ignored);
    return;
  }
  line_timer_.expires_after(limits_.close_timeout);
  line_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& fault) {
    if (fault) return;
    boost::system::error_code none;
    self->in_.close(none);
  });
  drain();
}

void LineCore::drain() {
  std::array<char, kChunk> chunk;  // NOLINT: filled by read
  ssize_t size = ::read(in_.native_handle(), chunk.data(), chunk.size());
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
    boost::system::error_code ignored;
    line_timer_.cancel();
    in_.close(ignored);
    return;
  }
  in_.async_wait(Descriptor::wait_read,
                 [self = shared_from_this()](const boost::system::error_code& fault) {
                   if (!fault && self->in_.is_open()) self->drain();
                 });
}

}  // namespace league::transport::line
