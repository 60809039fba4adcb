#include "common/transport/line/line_wire.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>

namespace league::transport::line {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;
using Fault = boost::system::error_code;

constexpr std::size_t kChunk = 32 * 1024;
/// After this many messages of one peer, other peers have their turn.
constexpr int kMessagesAtOnce = 8;
constexpr std::size_t kLinesAtOnce = 64;
constexpr const char* kNotReading = "the peer was dropped: it reads nothing of what waits for it";

core::Clock::Steady steady_now() { return std::chrono::steady_clock::now(); }

core::Error line_error(std::string text) {
  return {core::ErrorCode::kConnectionError, std::move(text), {}};
}

void assign(Descriptor& to, core::FileDescriptor fd) {
  int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags >= 0) ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK);
  Fault ignored;
  to.assign(fd.release(), ignored);
}

void shut(Descriptor& descriptor) {
  Fault ignored;
  descriptor.close(ignored);
}

/// False at the end of the input.
bool drain(Descriptor& socket) {
  std::array<char, kChunk> chunk;  // NOLINT: filled by read
  ssize_t size = ::read(socket.native_handle(), chunk.data(), chunk.size());
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/// Keeps a socket open a little longer: if it were closed with unread input, it would be reset, and
/// the peer would lose the last data sent to it. Ends at `patience`, or with the event loop.
link::Task<void> linger(asio::io_context* context, Descriptor socket,
                        std::chrono::milliseconds patience) {
  if (::shutdown(socket.native_handle(), SHUT_WR) != 0) co_return;
  link::Alarm late(*context, [&socket] { shut(socket); });
  late.set(steady_now() + patience);
  Fault ended;
  while (!ended && drain(socket))
    co_await socket.async_wait(Descriptor::wait_read,
                               asio::redirect_error(asio::use_awaitable, ended));
}

}  // namespace

connection::WireOptions line_options(const LineLimits& limits, rpc::TransportContext context,
                                     rpc::MessageDirection received) {
  return {
      .context = std::move(context),
      .received = received,
      .max_queue = limits.max_queued,
      .is_lines = true,
      .flush_timeout = limits.close_timeout,
      .closed = {{core::ErrorCode::kShuttingDown, "the connection was closed by this side", {}}},
      .too_slow = {line_error("the peer was dropped: it does not read, and more than " +
                              std::to_string(limits.max_queued) + " bytes wait for it")},
      .flush_failed = line_error(kNotReading)};
}

std::shared_ptr<connection::WireConnection> line_connection(link::EventLoop& loop,
                                                            LineStreams streams,
                                                            const LineLimits& limits) {
  auto options = line_options(limits, streams.context, streams.received);
  return connection::WireConnection::create(
      loop, std::make_unique<LineWire>(loop, std::move(streams), limits), std::move(options));
}

LineWire::LineWire(link::EventLoop& loop, LineStreams streams, const LineLimits& limits)
    : context_(loop.context()),
      limits_(limits),
      explains_faults_(streams.explains_faults),
      in_(context_),
      splitter_(limits.max_line),
      line_alarm_(context_, [this] { look_at_line(); }),
      stall_alarm_(context_, [this] { look_at_stall(); }) {
  // Otherwise writing to a pipe without a reader would kill the process; we check each write's
  // result.
  static std::once_flag once;
  std::call_once(once, [] { std::signal(SIGPIPE, SIG_IGN); });
  assign(in_, std::move(streams.in));
  if (streams.out.is_open()) assign(out_.emplace(context_), std::move(streams.out));
}

std::optional<connection::Incoming> LineWire::read_now() {
  if (read_in_turn_ >= kMessagesAtOnce) return std::nullopt;
  auto next = next_line();
  if (!next) return std::nullopt;
  partial_since_.reset();
  ++read_in_turn_;
  return next;
}

link::Task<connection::Incoming> LineWire::read() {
  for (;;) {
    if (std::exchange(read_in_turn_, 0) >= kMessagesAtOnce)
      co_await asio::post(context_, asio::use_awaitable);
    if (auto next = read_now()) co_return *std::move(next);
    if (has_input_ended_) co_return connection::InputEnd{};
    if (!is_ending_) {
      watch_line();
      Fault ignored;  // files cannot be waited for (operation_not_supported); they are always ready
      co_await in_.async_wait(Descriptor::wait_read,
                              asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (is_line_late_) co_return unfinished_line();
    if (!in_.is_open()) co_return connection::WireEnd{line_error("the connection is closed")};
    if (auto fault = read_chunk()) co_return connection::WireEnd{*std::move(fault)};
  }
}

/// The next message that has arrived, or the news that one was too long.
std::optional<connection::Incoming> LineWire::next_line() {
  auto line = splitter_.next();
  auto skipped = line ? std::nullopt : splitter_.take_skipped();
  if (!line && !skipped && has_input_ended_) {
    line = splitter_.rest();
    if (!line) skipped = splitter_.take_skipped();
  }
  if (line) return std::move(*line);
  if (!skipped) return std::nullopt;
  return connection::Oversized{
      *std::move(skipped), "a line is longer than " + std::to_string(limits_.max_line) + " bytes"};
}

void LineWire::watch_line() {
  if (!splitter_.has_partial()) return partial_since_.reset();
  if (partial_since_) return;
  partial_since_ = steady_now();
  if (!std::exchange(is_line_alarm_set_, true))
    line_alarm_.set(*partial_since_ + limits_.line_timeout);
}

/// A line may be incomplete only for so long; the time of our own pauses does not count.
void LineWire::look_at_line() {
  is_line_alarm_set_ = false;
  if (!partial_since_ || !in_.is_open()) return;
  const auto now = steady_now();
  if (!is_reading_) partial_since_ = now;
  if (now < *partial_since_ + limits_.line_timeout) {
    is_line_alarm_set_ = true;
    return line_alarm_.set(*partial_since_ + limits_.line_timeout);
  }
  is_line_late_ = true;
  in_.cancel();
}

connection::WireEnd LineWire::unfinished_line() const {
  const std::string why = "a line was begun and not ended within " +
                          std::to_string(limits_.line_timeout.count()) + " ms";
  connection::WireEnd end{line_error("the peer was dropped: " + why)};
  if (explains_faults_) {
    end.last_words =
        R"({"jsonrpc":"2.0","error":{"code":-32600,"message":")" + why + R"("},"id":null})";
  }
  return end;
}

/// Reads once, without waiting.
std::optional<core::Error> LineWire::read_chunk() {
  std::array<char, kChunk> chunk;  // NOLINT: filled by read
  ssize_t size = 0;
  do {
    size = ::read(in_.native_handle(), chunk.data(), chunk.size());
  } while (size < 0 && errno == EINTR);
  if (size > 0) {
    splitter_.append({chunk.data(), static_cast<std::size_t>(size)});
  } else if (size == 0 || errno == ECONNRESET || errno == EIO) {
    has_input_ended_ = true;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    has_input_ended_ = is_ending_;
  } else {
    return line_error("the peer cannot be read from: " + link::system_error_text(errno));
  }
  return std::nullopt;
}

void LineWire::end_input() {
  is_ending_ = true;
  if (in_.is_open()) in_.cancel();
}

std::size_t LineWire::write_now(std::span<const std::string_view> messages) {
  const ssize_t written = write_some(messages);
  return written < 0 ? 0 : count_written(static_cast<std::size_t>(written), messages);
}

link::Task<core::Result<std::size_t>> LineWire::write(std::span<const std::string_view> messages) {
  for (;;) {
    const ssize_t written = write_some(messages);
    if (written >= 0) {
      stalled_since_.reset();
      const auto whole = count_written(static_cast<std::size_t>(written), messages);
      if (whole > 0) co_return whole;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!co_await wait_for_room()) co_return line_error(kNotReading);
    } else if (errno != EINTR) {
      co_return line_error("the peer cannot be written to: " + link::system_error_text(errno));
    }
  }
}

/// As writev(2): the messages with their line ends, after what was written of the first.
ssize_t LineWire::write_some(std::span<const std::string_view> messages) {
  static char end_of_line = '\n';
  std::array<iovec, kLinesAtOnce * 2> parts;  // NOLINT: filled here
  std::size_t used = 0;
  std::size_t skip = front_written_;
  for (const auto message : messages.first(std::min(messages.size(), kLinesAtOnce))) {
    if (skip < message.size()) {
      const auto left = message.substr(skip);
      // NOLINTNEXTLINE: writev only reads
      parts[used++] = {const_cast<char*>(left.data()), left.size()};
    }
    parts[used++] = {&end_of_line, 1};
    skip = 0;
  }
  return ::writev(output().native_handle(), parts.data(), static_cast<int>(used));
}

/// How many messages are now written whole.
std::size_t LineWire::count_written(std::size_t bytes, std::span<const std::string_view> messages) {
  front_written_ += bytes;
  std::size_t whole = 0;
  while (whole < messages.size() && front_written_ > messages[whole].size())
    front_written_ -= messages[whole++].size() + 1;
  return whole;
}

/// False if the peer has taken nothing for too long.
link::Task<bool> LineWire::wait_for_room() {
  if (!stalled_since_) {
    stalled_since_ = steady_now();
    stall_alarm_.set(*stalled_since_ + limits_.write_timeout);
  }
  Fault ignored;
  co_await output().async_wait(Descriptor::wait_write,
                               asio::redirect_error(asio::use_awaitable, ignored));
  co_return !is_stalled_;
}

void LineWire::look_at_stall() {
  if (!stalled_since_ || !output().is_open()) return;
  is_stalled_ = true;
  output().cancel();
}

void LineWire::hang_up(bool is_all_sent) {
  if (!in_.is_open()) return;
  if (out_) {
    shut(*out_);
  } else if (is_all_sent && !has_input_ended_) {
    in_.cancel();  // a descriptor with waiting tasks does not move
    asio::co_spawn(context_, linger(&context_, std::move(in_), limits_.close_timeout),
                   asio::detached);
  }
  shut(in_);
}

}  // namespace league::transport::line
