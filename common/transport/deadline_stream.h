#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/core/clock.h"
#include "common/core/error_code.h"
#include "common/transport/socket.h"

namespace league::transport {

/// Bytes to and from one peer without blocking. Not thread-safe.
class Channel {
 public:
  /// What a step achieved: bytes, the end of the stream, or what to wait for before the next try.
  struct Step {
    enum class Kind { kBytes, kEnd, kWantRead, kWantWrite, kFailed } kind = Kind::kFailed;
    std::size_t count = 0;
    std::string cause;  ///< of kFailed
  };
  virtual ~Channel() = default;
  [[nodiscard]] virtual Step read(char* to, std::size_t size) = 0;
  [[nodiscard]] virtual Step write(const char* from, std::size_t size) = 0;
  [[nodiscard]] virtual int descriptor() const = 0;
};

/// A channel over a plain socket.
[[nodiscard]] std::unique_ptr<Channel> make_plain_channel(FileDescriptor socket);

/// One request and its response on a channel, under one absolute deadline and a cap on the
/// response's bytes: a peer that drips is cut off in time, whatever it sends. Not thread-safe.
class DeadlineStream {
 public:
  struct Limits {
    Patience patience;
    std::size_t max_response = 0;  ///< head and body together
  };
  struct Fault {
    core::ErrorCode code = core::ErrorCode::kConnectionError;
    bool was_sending = true;  ///< else receiving
    std::string cause;
  };

  DeadlineStream(Channel& channel, const Limits& limits) : channel_(channel), limits_(limits) {}

  /// Collects; sent in one piece before the first read.
  void write(const char* from, std::size_t size) { out_.append(from, size); }
  /// Bytes of the response; 0 at its end or after a fault.
  std::size_t read(char* to, std::size_t size);
  [[nodiscard]] bool has_unread() const { return position_ < in_.size(); }

  /// What has come already is still read; before the first wait for more, `before_waiting` runs
  /// once, and from then on the deadline is this one.
  void hurry(std::function<core::Clock::Steady()> before_waiting) {
    before_waiting_ = std::move(before_waiting);
  }

  [[nodiscard]] const Fault* fault() const { return has_failed_ ? &fault_ : nullptr; }
  [[nodiscard]] bool has_response_begun() const { return received_ > 0; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// When the last byte of the request went to the system; nothing before.
  [[nodiscard]] std::optional<core::Clock::Steady> sent_at() const { return sent_at_; }

 private:
  bool flush();
  bool fill();
  bool check_status_line();
  bool wait(short events);
  bool fail(core::ErrorCode code, std::string cause);

  Channel& channel_;
  Limits limits_;
  bool is_sending_ = true;
  std::string out_;
  std::string in_;
  std::size_t position_ = 0;
  std::size_t received_ = 0;
  bool is_status_line_checked_ = false;
  bool has_ended_ = false;
  bool has_failed_ = false;
  Fault fault_;
  std::optional<core::Clock::Steady> sent_at_;
  std::function<core::Clock::Steady()> before_waiting_;
};

}  // namespace league::transport
