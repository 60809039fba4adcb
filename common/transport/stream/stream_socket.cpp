#include "common/transport/stream/stream_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <cerrno>

namespace league::transport::stream {

namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

constexpr std::size_t kBuffersAtOnce = 48;
constexpr std::size_t kMaxStray = 64 * 1024;

/// The parts of `piece` after its first `skip` bytes.
std::size_t add_buffers(const link::StreamPiece& piece, std::size_t skip, iovec* to) {
  std::size_t count = 0;
  std::string_view body = piece.body ? std::string_view(*piece.body) : std::string_view{};
  for (std::string_view part : {std::string_view(piece.head), body, piece.tail}) {
    std::size_t skipped = std::min(skip, part.size());
    skip -= skipped;
    part.remove_prefix(skipped);
    if (part.empty()) continue;
    to[count++] = {const_cast<char*>(part.data()), part.size()};  // NOLINT: sendmsg only reads
  }
  return count;
}

}  // namespace

StreamSocket::StreamSocket(link::EventLoop& loop, const StreamSocketOptions& options,
                           OnGone on_gone)
    : loop_(loop), options_(options), on_gone_(std::move(on_gone)) {}

StreamSocket::~StreamSocket() = default;

void StreamSocket::adopt(link::DetachedSocket socket) {
  auto handed_over = std::make_shared<link::DetachedSocket>(std::move(socket));
  loop_.post([self = shared_from_this(), handed_over] {
    {
      std::lock_guard lock(self->mutex_);
      if (self->is_closed_) return;
      self->is_adopted_ = self->is_writing_ = true;
    }
    self->seat_ = std::move(handed_over->seat);
    self->stray_ = handed_over->leftover.size();
    self->last_sent_ = std::chrono::steady_clock::now();
    const int fd = handed_over->fd.release();
    self->descriptor_.emplace(self->loop_.context(), fd);
    auto limit = static_cast<unsigned>(self->options_.dead_after.count());
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
    self->run(self->watch());
    self->run(self->write_all());
  });
}

void StreamSocket::run(link::Task<void> task) {
  boost::asio::co_spawn(loop_.context(), std::move(task),
                        [self = shared_from_this()](const std::exception_ptr& fault) {
                          if (fault) self->close({"the connection broke", false});
                        });
}

bool StreamSocket::push(link::StreamPiece piece, std::function<void()> done) {
  bool is_taken = false;
  bool is_too_slow = false;
  {
    std::lock_guard lock(mutex_);
    if (!is_closed_ && !is_finishing_) {
      is_too_slow = waiting_ >= options_.max_queue;
      is_taken = !is_too_slow;
    }
    if (is_taken) {
      waiting_ += piece.size();
      queue_.push_back({std::move(piece), std::move(done)});
    }
  }
  if (is_taken) {
    begin_writing();
    return true;
  }
  if (is_too_slow) {
    cut({"the peer reads too slowly: more than " + std::to_string(options_.max_queue) +
             " bytes wait for it",
         true});
  }
  if (done) done();  // NOLINT(bugprone-use-after-move): moved only where the piece was taken
  return false;
}

void StreamSocket::finish(std::string reason) {
  {
    std::lock_guard lock(mutex_);
    if (is_closed_ || is_finishing_) return;
    is_finishing_ = true;
    end_ = {std::move(reason), false};
  }
  begin_writing();
}

void StreamSocket::cut(StreamEnd end) {
  {
    std::lock_guard lock(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
  }
  loop_.post([self = shared_from_this(), end = std::move(end)] { self->close(end); });
}

void StreamSocket::begin_writing() {
  {
    std::lock_guard lock(mutex_);
    if (!is_adopted_ || std::exchange(is_writing_, true)) return;
  }
  loop_.post([self = shared_from_this()] { self->run(self->write_all()); });
}

link::Task<void> StreamSocket::write_all() {
  boost::system::error_code ended;
  while (descriptor_ && (!writing_.empty() || refill())) {
    if (write_some() || !descriptor_) continue;
    if (!stalled_since_) stalled_since_ = std::chrono::steady_clock::now();
    co_await descriptor_->async_wait(
        Descriptor::wait_write, boost::asio::redirect_error(boost::asio::use_awaitable, ended));
  }
}

link::Task<void> StreamSocket::watch() {
  boost::system::error_code ended;
  do {
    co_await descriptor_->async_wait(
        Descriptor::wait_read, boost::asio::redirect_error(boost::asio::use_awaitable, ended));
  } while (descriptor_ && read_stray());
}

/// True if there is something to write; after finish() and all of it, closes.
bool StreamSocket::refill() {
  StreamEnd end;
  {
    std::lock_guard lock(mutex_);
    writing_.swap(queue_);
    if (!writing_.empty()) return true;
    is_writing_ = false;
    if (!is_finishing_) return false;
    is_closed_ = true;
    end = std::move(end_);
  }
  // A close alone would throw away what is sent if the peer has sent something unread.
  ::shutdown(descriptor_->native_handle(), SHUT_WR);
  close(std::move(end));
  return false;
}

/// False if the system takes no more now, or the connection broke.
bool StreamSocket::write_some() {
  std::array<iovec, kBuffersAtOnce + 3> buffers;  // NOLINT: filled here
  std::size_t count = 0;
  std::size_t skip = written_;
  for (auto item = writing_.begin(); item != writing_.end() && count < kBuffersAtOnce; ++item) {
    count += add_buffers(item->piece, skip, buffers.data() + count);
    skip = 0;
  }
  msghdr message{};
  message.msg_iov = buffers.data();
  message.msg_iovlen = count;
  ssize_t sent = ::sendmsg(descriptor_->native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) {
    consume(static_cast<std::size_t>(sent));
    return true;
  }
  if (errno == EINTR) return true;
  if (errno != EAGAIN) close({"the connection broke: " + link::system_error_text(errno), false});
  return false;
}

void StreamSocket::consume(std::size_t count) {
  last_sent_ = std::chrono::steady_clock::now();
  stalled_since_.reset();
  {
    std::lock_guard lock(mutex_);
    waiting_ -= count;
  }
  written_ += count;
  while (!writing_.empty() && written_ >= writing_.front().piece.size()) {
    written_ -= writing_.front().piece.size();
    auto done = std::move(writing_.front().done);
    writing_.pop_front();
    if (done) done();
  }
}

/// Reads what a peer sends that should only listen; false if that was the end.
bool StreamSocket::read_stray() {
  std::array<char, 4096> bytes;  // NOLINT: filled by recv
  ssize_t count = ::recv(descriptor_->native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  bool is_there = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
  if (!is_there) {
    close({"the peer closed the connection", false});
    return false;
  }
  stray_ += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  if (stray_ > kMaxStray) {
    close({"the peer sends on a connection that is an event stream", false});
    return false;
  }
  return true;
}

void StreamSocket::tick(Time now) {
  bool is_idle = false;
  {
    std::lock_guard lock(mutex_);
    if (!descriptor_ || is_closed_) return;
    is_idle = waiting_ == 0;
  }
  if (is_idle) {
    if (now - last_sent_ >= options_.keep_alive) push({std::string(link::kSseComment)});
  } else if (stalled_since_ && now - *stalled_since_ >= options_.write_timeout) {
    close({"the peer took nothing for " + std::to_string(options_.write_timeout.count()) + " ms",
           true});
  }
}

void StreamSocket::close(StreamEnd end) {
  std::deque<Item> lost;
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    lost.swap(queue_);
  }
  auto on_gone = std::exchange(on_gone_, nullptr);
  if (!on_gone) return;
  std::deque<Item> unsent = std::exchange(writing_, {});
  descriptor_.reset();
  seat_.reset();
  for (auto* items : {&unsent, &lost}) {
    for (auto& item : *items) {
      if (item.done) item.done();
    }
  }
  on_gone(*this, end);
}

}  // namespace league::transport::stream
