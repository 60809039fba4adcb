#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"
#include "common/transport/link/socket.h"

namespace league::transport::line {

/// The limits of one connection that carries lines.
struct LineLimits {
  /// Bytes of one inbound line. A longer one is skipped, and the receiver is told which message it
  /// was (on_oversized).
  std::size_t max_line = 256 * 1024;
  std::size_t max_queued = 4 * 1024 * 1024;  ///< bytes that wait for a slow reader; more closes
  /// The connection is closed if a line is not complete after this long. Silence between lines is
  /// allowed.
  std::chrono::milliseconds line_timeout{5000};
  /// How long a peer may accept none of the data that waits for it.
  std::chrono::milliseconds write_timeout{10'000};
  /// How long sending the queued data may take after close().
  std::chrono::milliseconds close_timeout{1000};
};

/// The byte stream that carries the lines.
struct LineStreams {
  core::FileDescriptor in;
  core::FileDescriptor out;  ///< not open: `in` is a socket for both directions
  rpc::TransportContext context;
  rpc::MessageDirection received = rpc::MessageDirection::kUnknown;  ///< of received messages
  /// Tells the peer in a JSON-RPC error why the connection is closed because of a fault of the
  /// peer.
  bool explains_faults = false;
};

/// Newline-delimited JSON over a socket, or a pair of pipes, terminals or files: one document per
/// line, LF or CRLF. Line ends inside an outbound document become blanks. Runs on the event loop's
/// thread, on which the receiver is called with at most a few messages at a time, so that no peer
/// monopolises the event loop. Thread-safe. Ignores SIGPIPE for the process. Destroying it aborts
/// the connection.
class LineConnection : public link::MessageConnection {
 public:
  /// `loop` outlives the connection. Descriptors become non-blocking.
  [[nodiscard]] static std::shared_ptr<LineConnection> create(link::EventLoop& loop,
                                                              LineStreams streams,
                                                              const LineLimits& limits = {});
  /// Closes at once with `why`; queued messages are dropped.
  virtual void abort(const core::Error& why) = 0;
  /// Sets a function to call instead of closing at the end of the input. For child processes, whose
  /// exit status says more than the end of a pipe: the caller aborts the connection later, with the
  /// reason. Must be called before start; the function runs on the event loop's thread.
  virtual void on_input_closed(std::function<void()> function) = 0;
};

}  // namespace league::transport::line
