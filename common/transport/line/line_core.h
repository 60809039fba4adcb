#pragma once

#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/transport/line/line_connection.h"
#include "common/transport/line/line_splitter.h"

namespace league::transport::line {

/// A LineConnection, kept alive by pending operations. Except for the first group of functions,
/// everything runs on the event loop's thread.
class LineCore final : public LineConnection, public std::enable_shared_from_this<LineCore> {
 public:
  LineCore(link::EventLoop& loop, LineStreams streams, const LineLimits& limits);

  // From any thread.
  void start(std::shared_ptr<link::MessageReceiver> receiver) override;
  void send(link::OutboundMessage message) override;
  void set_reading(bool is_on) override;
  void close() override;
  void abort(const core::Error& why) override;
  void on_input_closed(std::function<void()> function) override {
    input_closed_ = std::move(function);
  }
  [[nodiscard]] rpc::TransportType transport_type() const override { return context_.type; }
  [[nodiscard]] rpc::TransportContext current_context() const override { return context_; }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  enum class Life { kOpen, kClosing, kClosed };

  // line_core_read.cpp
  void read_more();
  void read_available();
  bool read_chunk();
  void deliver();
  void deliver_one(std::string line);
  bool pass_over_skipped();
  void after_lines();
  void watch_partial_line();
  void end_input();
  void linger();
  void drain();
  void fail_line(const std::string& why);

  // line_core.cpp
  void flush();
  bool write_some();
  bool note_written(std::size_t bytes);
  void wait_writable();
  void watch_stall();
  [[nodiscard]] core::Clock::Steady stall_limit() const;
  void close_for(core::Error why);
  void end(const core::Error& why);
  void post(void (LineCore::*step)());
  [[nodiscard]] bool is_closed() const;
  [[nodiscard]] Life life() const;
  Descriptor& output() { return out_ ? *out_ : in_; }

  link::EventLoop& loop_;
  const LineLimits limits_;
  const rpc::TransportContext context_;
  const rpc::MessageDirection received_;
  const bool explains_faults_;

  std::atomic<bool> wants_reading_ = true;

  mutable std::mutex mutex_;  // guards this group; never held during input and output
  std::deque<link::OutboundMessage> queue_;  ///< the front may be partly written
  std::size_t queued_bytes_ = 0;
  bool is_flush_posted_ = false;
  bool is_overflowing_ = false;
  Life life_ = Life::kOpen;
  core::Error closing_reason_;  ///< set once the state is kClosing

  Descriptor in_;
  std::optional<Descriptor> out_;
  std::shared_ptr<link::MessageReceiver> receiver_;
  std::function<void()> input_closed_;
  bool is_end_explained_ = false;  ///< `input_closed_` was called and ends the connection
  LineSplitter splitter_;
  bool is_waiting_to_read_ = false;
  bool is_waiting_to_write_ = false;
  bool is_delivery_posted_ = false;
  bool has_input_ended_ = false;
  bool is_input_end_told_ = false;
  std::size_t front_written_ = 0;  ///< bytes of the queue's first message, with its line end
  boost::asio::steady_timer line_timer_;
  bool is_line_timer_set_ = false;
  std::optional<core::Clock::Steady> partial_since_;
  boost::asio::steady_timer write_timer_;
  bool is_write_timer_set_ = false;
  core::Clock::Steady last_progress_{};
  core::Clock::Steady closing_since_{};
};

}  // namespace league::transport::line
