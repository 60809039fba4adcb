#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"
#include "common/transport/link/socket.h"

namespace league::transport {

/// The limits of one connection of lines.
struct LineLimits {
  std::size_t max_line = 256 * 1024;  ///< bytes of one inbound line; longer closes
  /// A line that is too long is passed over in place of closing: the receiver is told which message
  /// it was (on_oversized).
  bool skips_long_lines = false;
  std::size_t max_queued = 4 * 1024 * 1024;  ///< bytes that wait for a slow reader; more closes
  /// A line that was begun and is not ended by then closes the connection. Silence between lines is
  /// allowed.
  std::chrono::milliseconds line_timeout{5000};
  /// How long a peer may take nothing of what waits for it.
  std::chrono::milliseconds write_timeout{10'000};
  /// After close(): how long what waits may take to be sent.
  std::chrono::milliseconds close_timeout{1000};
};

/// A stream of bytes to speak lines on.
struct LineStreams {
  FileDescriptor in;
  FileDescriptor out;  ///< not open: `in` is a socket, for both ways
  rpc::TransportContext context;
  rpc::MessageDirection received = rpc::MessageDirection::kUnknown;  ///< of what comes in
  /// Tells the peer in a JSON-RPC error why the connection is closed for a fault of its own.
  bool explains_faults = false;
};

/// Newline-delimited JSON over a socket, or a pair of pipes, terminals or files: one document a
/// line, LF or CRLF. Raw line ends inside an outbound document become blanks. Lives on the event
/// loop's thread, where the receiver is called: at most a few messages a turn, so that no peer has
/// the event loop for itself. Thread-safe. Ignores SIGPIPE for the process. Letting go of it aborts
/// it.
class LineConnection final : public MessageConnection {
 public:
  /// `loop` outlives the connection. Descriptors become non-blocking.
  [[nodiscard]] static std::shared_ptr<LineConnection> create(EventLoop& loop, LineStreams streams,
                                                              const LineLimits& limits = {});
  ~LineConnection() override;

  void start(std::shared_ptr<MessageReceiver> receiver) override;
  void send(OutboundMessage message) override;
  void set_reading(bool is_on) override;
  void close() override;
  [[nodiscard]] rpc::TransportType transport_type() const override;
  [[nodiscard]] rpc::TransportContext current_context() const override;

  /// Closes at once with `why`; what waits is dropped.
  void abort(const core::Error& why);
  /// The same after receiving what the peer has sent by then, up to 2 MiB: its last words.
  void abort_after_input(const core::Error& why);
  /// In place of closing at the end of the input. For children, whose exit status says more than
  /// the end of a pipe: who sets it aborts later, with the reason. Before start; runs on the event
  /// loop's thread.
  void on_input_closed(std::function<void()> function);

 private:
  explicit LineConnection(std::shared_ptr<class LineCore> core);
  const std::shared_ptr<class LineCore> core_;
};

}  // namespace league::transport
