#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>

#include "common/transport/connection/wire_connection.h"
#include "common/transport/line/line_connection.h"
#include "common/transport/line/line_splitter.h"

namespace league::transport::line {

/// The wire of a line_connection(). No peer gets more than a few lines at a time before others have
/// their turn.
class LineWire final : public connection::Wire {
 public:
  LineWire(link::EventLoop& loop, LineStreams streams, const LineLimits& limits);

  std::optional<connection::Incoming> read_now() override;
  link::Task<connection::Incoming> read() override;
  std::size_t write_now(std::span<const std::string_view> messages) override;
  link::Task<core::Result<std::size_t>> write(std::span<const std::string_view> messages) override;
  void hang_up(bool is_all_sent) override;
  void set_reading(bool is_on) override { is_reading_ = is_on; }
  /// Writing has failed because the peer takes nothing, not because it is gone.
  [[nodiscard]] bool is_stalled() const { return is_stalled_; }
  /// Nothing more will come: what has already arrived is still read.
  void end_input();

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  std::optional<connection::Incoming> next_line();
  void watch_line();
  std::optional<core::Error> read_chunk();
  void look_at_line();
  [[nodiscard]] connection::WireEnd unfinished_line() const;
  ssize_t write_some(std::span<const std::string_view> messages);
  std::size_t count_written(std::size_t bytes, std::span<const std::string_view> messages);
  link::Task<bool> wait_for_room();
  void look_at_stall();
  Descriptor& output() { return out_ ? *out_ : in_; }

  boost::asio::io_context& context_;
  const LineLimits limits_;
  const bool explains_faults_;
  Descriptor in_;
  std::optional<Descriptor> out_;
  LineSplitter splitter_;
  int read_in_turn_ = 0;
  std::size_t front_written_ = 0;  ///< bytes of the first message that is not written whole
  bool is_reading_ = false;
  bool is_ending_ = false;  ///< reads what is there, without waiting
  bool has_input_ended_ = false;
  std::optional<core::Clock::Steady> partial_since_;  ///< a line is incomplete since then
  bool is_line_late_ = false;
  std::optional<core::Clock::Steady> stalled_since_;  ///< the peer takes nothing since then
  bool is_stalled_ = false;
  link::Alarm line_alarm_;
  bool is_line_alarm_set_ = false;
  link::Alarm stall_alarm_;
};

/// What a connection of lines over `wire` is told; `context` is that of its messages.
[[nodiscard]] connection::WireOptions line_options(const LineLimits& limits,
                                                   rpc::TransportContext context,
                                                   rpc::MessageDirection received);

}  // namespace league::transport::line
