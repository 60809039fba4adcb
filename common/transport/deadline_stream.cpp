#include "common/transport/deadline_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace league::transport {

namespace {

constexpr std::size_t kReadAtOnce = 16 * 1024;
constexpr std::size_t kMaxStatusLine = 512;

class PlainChannel final : public Channel {
 public:
  explicit PlainChannel(FileDescriptor socket) : socket_(std::move(socket)) {}

  Step read(char* to, std::size_t size) override {
    return step(::recv(socket_.get(), to, size, 0), Step::Kind::kWantRead);
  }
  Step write(const char* from, std::size_t size) override {
    return step(::send(socket_.get(), from, size, MSG_NOSIGNAL), Step::Kind::kWantWrite);
  }
  [[nodiscard]] int descriptor() const override { return socket_.get(); }

 private:
  static Step step(ssize_t count, Step::Kind when_not_ready) {
    if (count > 0) return {Step::Kind::kBytes, static_cast<std::size_t>(count), {}};
    if (count == 0) return {Step::Kind::kEnd, 0, {}};
    if (errno == EAGAIN || errno == EINTR) return {when_not_ready, 0, {}};
    return {Step::Kind::kFailed, 0, system_error_text(errno)};
  }

  FileDescriptor socket_;
};

}  // namespace

std::unique_ptr<Channel> make_plain_channel(FileDescriptor socket) {
  return std::make_unique<PlainChannel>(std::move(socket));
}

std::size_t DeadlineStream::read(char* to, std::size_t size) {
  if (!out_.empty() && !flush()) return 0;
  if (!is_status_line_checked_ && !check_status_line()) return 0;
  if (!has_unread() && !fill()) return 0;
  std::size_t count = std::min(size, in_.size() - position_);
  if (count == 1) {  // httplib reads the head like this
    *to = in_[position_++];
    return 1;
  }
  std::memcpy(to, in_.data() + position_, count);
  position_ += count;
  return count;
}

bool DeadlineStream::flush() {
  is_sending_ = true;
  std::size_t sent = 0;
  while (sent < out_.size()) {
    auto step = channel_.write(out_.data() + sent, out_.size() - sent);
    switch (step.kind) {
      case Channel::Step::Kind::kBytes:
        sent += step.count;
        break;
      case Channel::Step::Kind::kWantRead:
        if (!wait(POLLIN)) return false;
        break;
      case Channel::Step::Kind::kWantWrite:
        if (!wait(POLLOUT)) return false;
        break;
      default:
        return fail(core::ErrorCode::kConnectionError, step.cause);
    }
  }
  sent_at_ = std::chrono::steady_clock::now();
  out_.clear();
  is_sending_ = false;
  return true;
}

/// Appends what has come, waiting for it.
bool DeadlineStream::fill() {
  if (has_ended_ || has_failed_) return false;
  if (position_ == in_.size()) {
    in_.clear();
    position_ = 0;
  }
  // The answer to a request that has just been sent is never there yet.
  if (received_ == 0 && !wait(POLLIN)) return false;
  std::array<char, kReadAtOnce> bytes;  // NOLINT: filled by read
  for (;;) {
    auto step = channel_.read(bytes.data(), bytes.size());
    in_.append(bytes.data(), step.count);
    switch (step.kind) {
      case Channel::Step::Kind::kBytes:
        received_ += step.count;
        if (received_ <= limits_.max_response) return true;
        return fail(core::ErrorCode::kReplyTooLarge,
                    "the answer is larger than " + std::to_string(limits_.max_response) + " bytes");
      case Channel::Step::Kind::kEnd:
        has_ended_ = true;
        return false;
      case Channel::Step::Kind::kWantRead:
        if (!wait(POLLIN)) return false;
        break;
      case Channel::Step::Kind::kWantWrite:
        if (!wait(POLLOUT)) return false;
        break;
      case Channel::Step::Kind::kFailed:
        return fail(core::ErrorCode::kConnectionError, step.cause);
    }
  }
}

/// httplib runs a recursive regular expression over the status line: it must be short and
/// well-formed before that. Interim answers (1xx) would bring a second line; nobody may send one,
/// since we never ask for it.
bool DeadlineStream::check_status_line() {
  is_status_line_checked_ = true;
  constexpr std::string_view kNoHttp = "the answer is no HTTP/1 response";
  while (in_.find('\n') == std::string::npos) {
    if (in_.size() > kMaxStatusLine)
      return fail(core::ErrorCode::kConnectionError, std::string(kNoHttp));
    if (!fill()) {
      if (has_failed_) return false;
      return fail(core::ErrorCode::kConnectionError,
                  received_ == 0 ? "the peer closed the connection without an answer"
                                 : "the peer closed the connection within its answer");
    }
  }
  bool is_good = in_.find('\n') <= kMaxStatusLine && in_.starts_with("HTTP/1.") && in_.size() > 9 &&
                 in_[9] >= '2' && in_[9] <= '5';
  return is_good || fail(core::ErrorCode::kConnectionError, std::string(kNoHttp));
}

bool DeadlineStream::wait(short events) {
  if (auto hook = std::exchange(before_waiting_, nullptr)) limits_.patience.deadline = hook();
  auto ready = wait_ready(channel_.descriptor(), events, limits_.patience);
  return ready || fail(ready.error().code, ready.error().message);
}

bool DeadlineStream::fail(core::ErrorCode code, std::string cause) {
  has_failed_ = true;
  fault_ = {code, is_sending_, std::move(cause)};
  return false;
}

}  // namespace league::transport
