#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/transport/connection/wire.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::connection {

/// The limits and the texts of one connection.
struct WireOptions {
  rpc::TransportContext context;
  rpc::MessageDirection received = rpc::MessageDirection::kUnknown;  ///< of received messages
  std::size_t max_queue = 0;  ///< bytes that wait for the peer; more: `too_slow`
  bool may_exceed_queue = false;  ///< one message may exceed it, the next one not
  bool is_lines = false;  ///< line ends inside a message become blanks; many are written at once
  /// How long sending the queued messages may take after close().
  std::chrono::milliseconds flush_timeout = std::chrono::milliseconds::max();
  WireEnd closed;  ///< by close()
  WireEnd too_slow;  ///< without a code: at once
  core::Error flush_failed = {};  ///< after `flush_timeout`
  std::string refusal = "the connection is closed";  ///< of messages that come too late
};

/// A MessageConnection over any wire: the queue of messages and its limit, pauses, the order of the
/// end. One task reads while reading is on, one writes while something is queued and then says
/// goodbye; both run on the event loop's thread, own this object, and are ended by the wire's
/// hang_up(). Only the queue is touched by other threads. Thread-safe.
class WireConnection final : public link::MessageConnection,
                             public std::enable_shared_from_this<WireConnection> {
 public:
  /// `loop` outlives it. When the last reference is let go, the connection is closed; one without
  /// a goodbye (lines) at once.
  [[nodiscard]] static std::shared_ptr<WireConnection> create(link::EventLoop& loop,
                                                              std::unique_ptr<Wire> wire,
                                                              WireOptions options);
  WireConnection(link::EventLoop& loop, std::unique_ptr<Wire> wire, WireOptions options);
  ~WireConnection() override;

  void start(std::shared_ptr<link::MessageReceiver> receiver) override;
  void send(link::OutboundMessage message) override;
  void set_reading(bool is_on) override;
  void close() override;
  [[nodiscard]] rpc::TransportType transport_type() const override { return options_.context.type; }
  [[nodiscard]] rpc::TransportContext current_context() const override { return options_.context; }

  /// Closes at once with `why`; queued messages are dropped.
  void abort(const core::Error& why);
  /// From now on close() tells the peer this code.
  void set_close_code(std::uint16_t code);
  /// The peer was dropped because it read too slowly.
  [[nodiscard]] bool was_dropped() const { return was_dropped_; }

 private:
  enum class Life { kOpen, kClosing, kClosed };

  link::Task<void> open();
  link::Task<void> read_all();
  link::Task<void> write_all();
  link::Task<void> say_goodbye();
  void run(link::Task<void> task);

  [[nodiscard]] bool may_read() const;
  void take(Incoming incoming);
  [[nodiscard]] bool collect();
  void note_written(std::size_t count);
  void begin_writing();
  void flush();
  void finish(WireEnd end);
  void fail(WireEnd end);
  void end(const core::Error& why);
  void drop_queue(const core::Error& why);

  link::EventLoop& loop_;
  const std::unique_ptr<Wire> wire_;
  const WireOptions options_;
  std::atomic<bool> wants_reading_ = true;
  std::atomic<bool> was_dropped_ = false;

  std::mutex mutex_;  // guards this group; never held during input and output
  std::deque<link::OutboundMessage> queue_;  ///< the first `batch_.size()` are being written
  std::size_t queued_bytes_ = 0;
  bool is_writing_ = true;  ///< a task does, or will; at first the one that opens the wire
  bool takes_messages_ = true;
  bool is_closed_ = false;

  // Only the event loop touches these.
  std::shared_ptr<link::MessageReceiver> receiver_;
  Life life_ = Life::kOpen;
  WireEnd end_;  ///< of kClosing
  std::uint16_t close_code_;
  std::vector<std::string_view> batch_;
  std::optional<Incoming> held_;  ///< read after a pause was asked for
  std::optional<link::Alarm> flush_alarm_;
  bool is_started_ = false;
  bool is_opened_ = false;
  bool is_reading_ = false;
  bool has_input_ended_ = false;
  bool says_goodbye_ = false;
};

}  // namespace league::transport::connection
