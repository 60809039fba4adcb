#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "common/rpc/context.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/socket.h"

namespace league::transport::connection {
class WireConnection;
}

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
/// line, LF or CRLF. Line ends inside an outbound document become blanks. `loop` outlives the
/// connection. Descriptors become non-blocking. Ignores SIGPIPE for the process.
[[nodiscard]] std::shared_ptr<connection::WireConnection> line_connection(
    link::EventLoop& loop, LineStreams streams, const LineLimits& limits = {});

}  // namespace league::transport::line
