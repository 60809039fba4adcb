#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "common/core/result.h"
#include "common/rpc/frame_peek.h"
#include "common/transport/link/task.h"

namespace league::transport::connection {

/// Why a connection ends, and what the peer learns of it.
struct WireEnd {
  core::Error why;
  std::uint16_t code = 0;  ///< for the peer (a WebSocket's close code); 0: it is told nothing
  std::string last_words = {};  ///< a message to send before
};

/// A message that was too large and was skipped; `frame` is what could be read of it.
struct Oversized {
  rpc::FramePeek frame;
  std::string why;
};

/// The peer will send nothing more, but may still read.
struct InputEnd {};

/// What reading brought.
using Incoming = std::variant<std::string, Oversized, InputEnd, WireEnd>;

/// What is different from one kind of long-lived connection to another: how one message is read and
/// written, and how the connection is closed. The rest is a WireConnection, which owns it. Used on
/// the event loop's thread; one task reads and one writes. hang_up() ends what waits, soon; it is
/// destroyed after that. Not thread-safe.
class Wire {
 public:
  virtual ~Wire() = default;
  /// What comes before the first message, such as a handshake; the end if it failed.
  virtual link::Task<std::optional<WireEnd>> open() { co_return std::nullopt; }
  /// The next message, if it is there already: spares a task for each of many.
  virtual std::optional<Incoming> read_now() { return std::nullopt; }
  /// Waits for the next message.
  virtual link::Task<Incoming> read() = 0;
  /// Writes what goes without waiting; as write(), but it may be none.
  virtual std::size_t write_now(std::span<const std::string_view> messages) {
    (void)messages;
    return 0;
  }
  /// Writes until one or more of the messages are with the operating system, in order, and returns
  /// how many are. What it has written of the next one counts when it is called again.
  virtual link::Task<core::Result<std::size_t>> write(
      std::span<const std::string_view> messages) = 0;
  /// Closes in good order, with `code`, and returns soon, whatever the peer does. May know better
  /// than the caller how it ended.
  virtual link::Task<std::optional<core::Error>> close(std::uint16_t code) {
    (void)code;
    co_return std::nullopt;
  }
  /// Closes now. `is_all_sent`: nothing that was to be sent is lost.
  virtual void hang_up(bool is_all_sent) = 0;
  /// Whether messages are read from now on; false at first.
  virtual void set_reading(bool is_on) { (void)is_on; }
};

}  // namespace league::transport::connection
