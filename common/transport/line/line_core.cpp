#include "common/transport/line/line_core.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "common/transport/link/handle.h"

namespace league::transport::line {
namespace {

constexpr std::size_t kLinesAtOnce = 64;
constexpr int kWritesAtOnce = 4;

core::Clock::Steady steady_now() { return std::chrono::steady_clock::now(); }

void make_non_blocking(int fd) {
  int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/// Replaces line ends inside a document, which would split it. In valid JSON they occur only
/// between tokens, where a blank is equivalent.
rpc::SharedText on_one_line(rpc::SharedText bytes) {
  if (bytes.view().find_first_of("\r\n") == std::string::npos) return bytes;
  std::string copy = bytes.str();
  std::replace_if(
      copy.begin(), copy.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return copy;
}

core::Error line_error(core::ErrorCode code, std::string text) {
  return {code, std::move(text), {}};
}

}  // namespace

std::shared_ptr<LineConnection> LineConnection::create(link::EventLoop& loop, LineStreams streams,
                                                       const LineLimits& limits) {
  // Otherwise writing to a pipe without a reader would kill the process; we check each write's
  // result.
  static std::once_flag once;
  std::call_once(once, [] { std::signal(SIGPIPE, SIG_IGN); });
  return make_handle<LineConnection>(
      std::make_shared<LineCore>(loop, std::move(streams), limits), [](LineCore& core) {
        core.abort({core::ErrorCode::kShuttingDown, "the connection was let go", {}});
      });
}

LineCore::LineCore(link::EventLoop& loop, LineStreams streams, const LineLimits& limits)
    : loop_(loop),
      limits_(limits),
      context_(std::move(streams.context)),
      received_(streams.received),
      explains_faults_(streams.explains_faults),
      in_(loop.context()),
      splitter_(limits.max_line),
      line_timer_(loop.context()),
      write_timer_(loop.context()) {
  boost::system::error_code ignored;
  make_non_blocking(streams.in.get());
  in_.assign(streams.in.release(), ignored);
  if (streams.out.is_open()) {
    make_non_blocking(streams.out.get());
    out_.emplace(loop.context());
    out_->assign(streams.out.release(), ignored);
  }
}

void LineCore::post(void (LineCore::*step)()) {
  loop_.post([self = shared_from_this(), step] { ((*self).*step)(); });
}

LineCore::Life LineCore::life() const {
  std::lock_guard lock(mutex_);
  return life_;
}

bool LineCore::is_closed() const { return life() == Life::kClosed; }

void LineCore::start(std::shared_ptr<link::MessageReceiver> receiver) {
  loop_.post([self = shared_from_this(), receiver = std::move(receiver)]() mutable {
    if (self->is_closed()) {
      return receiver->on_closed(
          line_error(core::ErrorCode::kShuttingDown, "the connection was closed"));
    }
    self->receiver_ = std::move(receiver);
    self->read_more();
  });
}

void LineCore::send(link::OutboundMessage message) {
  bool is_refused = false;
  bool is_first = false;
  bool overflows = false;
  if (message.bytes.empty()) {
    if (message.done) message.done({});
    return;
  }
  message.bytes = on_one_line(std::move(message.bytes));
  {
    std::lock_guard lock(mutex_);
    is_refused = life_ != Life::kOpen || is_overflowing_;
    if (!is_refused) {
      overflows = !queue_.empty() && queued_bytes_ + message.bytes.size() > limits_.max_queued;
      is_overflowing_ = overflows;
      queued_bytes_ += message.bytes.size() + 1;
      queue_.push_back(std::move(message));
      is_first = !std::exchange(is_flush_posted_, true);
    }
  }
  if (is_refused) {
    link::SendOutcome outcome;
    outcome.error = line_error(core::ErrorCode::kConnectionError, "the connection is closed");
    if (message.done) message.done(outcome);  // NOLINT(bugprone-use-after-move): refused, not moved
  } else if (overflows) {
    abort(line_error(core::ErrorCode::kConnectionError,
                     "the peer was dropped: it does not read, and more than " +
                         std::to_string(limits_.max_queued) + " bytes wait for it"));
  } else if (is_first) {
    post(&LineCore::flush);
  }
}

void LineCore::set_reading(bool is_on) {
  wants_reading_ = is_on;
  if (is_on) post(&LineCore::deliver);
}

void LineCore::flush() {
  for (int turn = 0; turn < kWritesAtOnce; ++turn) {
    if (is_closed() || is_waiting_to_write_) return;
    if (!write_some()) return;
  }
  post(&LineCore::flush);
}

/// False if there is nothing more to do for now.
bool LineCore::write_some() {
  std::array<iovec, kLinesAtOnce * 2> parts{};
  std::vector<rpc::SharedText> held;
  {
    std::lock_guard lock(mutex_);
    auto count = std::min(queue_.size(), kLinesAtOnce);
    for (std::size_t i = 0; i < count; ++i) held.push_back(queue_[i].bytes);
    if (count == 0) is_flush_posted_ = false;
  }
  if (held.empty()) {
    if (life() == Life::kClosing) end(closing_reason_);
    return false;
  }
  static char end_of_line = '\n';
  std::size_t used = 0;
  std::size_t skip = front_written_;
  for (const auto& bytes : held) {
    if (skip < bytes.size()) {
      parts[used++] = {const_cast<char*>(bytes.begin()) + skip, bytes.size() - skip};
    }
    parts[used++] = {&end_of_line, 1};
    skip = 0;
  }
  ssize_t written = ::writev(output().native_handle(), parts.data(), static_cast<int>(used));
  if (written >= 0) return note_written(static_cast<std::size_t>(written));
  if (errno == EINTR) return true;
  if (errno == EAGAIN || errno == EWOULDBLOCK) {
    wait_writable();
  } else if (auto explain = std::exchange(input_closed_, nullptr)) {
    is_end_explained_ = true;
    explain();  // a child that stops reading has usually ended
  } else if (!is_end_explained_) {
    end(line_error(core::ErrorCode::kConnectionError,
                   "the peer cannot be written to: " + link::system_error_text(errno)));
  }
  return false;
}

bool LineCore::note_written(std::size_t bytes) {
  last_progress_ = steady_now();
  std::vector<std::function<void(const link::SendOutcome&)>> sent;
  {
    std::lock_guard lock(mutex_);
    front_written_ += bytes;
    while (!queue_.empty() && front_written_ >= queue_.front().bytes.size() + 1) {
      auto whole = queue_.front().bytes.size() + 1;
      front_written_ -= whole;
      queued_bytes_ -= whole;
      if (queue_.front().done) sent.push_back(std::move(queue_.front().done));
      queue_.pop_front();
    }
  }
  for (auto& done : sent) done({});
  return true;
}

void LineCore::wait_writable() {
  if (!is_write_timer_set_) last_progress_ = steady_now();
  is_waiting_to_write_ = true;
  watch_stall();
  output().async_wait(Descriptor::wait_write,
                      [self = shared_from_this()](const boost::system::error_code& fault) {
                        self->is_waiting_to_write_ = false;
                        if (fault == boost::asio::error::operation_aborted) return;
                        self->flush();
                      });
}

core::Clock::Steady LineCore::stall_limit() const {
  return life() == Life::kClosing ? closing_since_ + limits_.close_timeout
                                  : last_progress_ + limits_.write_timeout;
}

void LineCore::watch_stall() {
  if (std::exchange(is_write_timer_set_, true)) return;
  write_timer_.expires_at(stall_limit());
  write_timer_.async_wait([self = shared_from_this()](const boost::system::error_code& fault) {
    self->is_write_timer_set_ = false;
    if (fault || self->is_closed() || !self->is_waiting_to_write_) return;
    if (steady_now() < self->stall_limit()) return self->watch_stall();
    self->end(line_error(core::ErrorCode::kConnectionError,
                         "the peer was dropped: it reads nothing of what waits for it"));
  });
}

void LineCore::close() {
  close_for(line_error(core::ErrorCode::kShuttingDown, "the connection was closed by this side"));
}

void LineCore::close_for(core::Error why) {
  {
    std::lock_guard lock(mutex_);
    if (life_ != Life::kOpen) return;
    life_ = Life::kClosing;
    closing_reason_ = std::move(why);
    is_flush_posted_ = true;
  }
  loop_.post([self = shared_from_this()] {
    self->closing_since_ = steady_now();
    // Closing has another time limit; a pending wait sets the timer again with it.
    if (self->is_waiting_to_write_) {
      self->write_timer_.cancel();
      self->is_write_timer_set_ = false;
      self->watch_stall();
    }
    self->flush();
  });
}

void LineCore::abort(const core::Error& why) {
  if (is_closed()) return;  // the event loop may also be gone
  loop_.post([self = shared_from_this(), why] { self->end(why); });
}

void LineCore::end(const core::Error& why) {
  std::deque<link::OutboundMessage> unsent;
  {
    std::lock_guard lock(mutex_);
    if (life_ == Life::kClosed) return;
    life_ = Life::kClosed;
    unsent.swap(queue_);
    queued_bytes_ = 0;
  }
  line_timer_.cancel();
  write_timer_.cancel();
  boost::system::error_code ignored;
  if (out_) {
    out_->close(ignored);
    in_.close(ignored);
  } else if (unsent.empty() && !has_input_ended_) {
    linger();
  } else {
    in_.close(ignored);
  }
  link::SendOutcome outcome;
  outcome.error = why;
  for (auto& message : unsent) {
    if (message.done) message.done(outcome);
  }
  input_closed_ = nullptr;
  if (auto receiver = std::exchange(receiver_, nullptr)) receiver->on_closed(why);
}

}  // namespace league::transport::line
