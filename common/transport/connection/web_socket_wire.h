#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "common/transport/connection/wire.h"

namespace league::transport::connection {

/// A WebSocket (RFC 6455) on `Stream`, at either end: each text message carries one message. A
/// binary message ends it with 1003, invalid UTF-8 with 1007. Silence is judged by Beast.
template <typename Stream>
class WebSocketWire final : public Wire {
 public:
  using Socket = boost::beast::websocket::stream<Stream, /*deflateSupported=*/false>;
  using Timeout = boost::beast::websocket::stream_base::timeout;
  using Fault = boost::system::error_code;
  /// What is different at the two ends.
  struct Options {
    std::chrono::milliseconds close_timeout;  ///< for the closing handshake
    core::Error binary;  ///< for a binary message
    std::function<core::Error(const Socket&, Fault)> explain;  ///< why it ended
    std::function<link::Task<Fault>(Socket&)> open =
        nullptr;  ///< the handshake, if it is not done yet
    /// Set while messages are read: a pause of ours is no silence of the peer.
    std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt;
    std::function<void()> on_hang_up = nullptr;
  };

  WebSocketWire(boost::asio::io_context& context, Socket socket, Options options)
      : context_(context), socket_(std::move(socket)), options_(std::move(options)) {}

  link::Task<std::optional<WireEnd>> open() override {
    if (options_.open) {
      if (Fault fault = co_await options_.open(socket_))
        co_return WireEnd{
            {core::ErrorCode::kConnectionError, "the handshake failed: " + fault.message(), {}}};
    }
    set_reading(false);
    socket_.text(true);
    co_return std::nullopt;
  }

  link::Task<Incoming> read() override {
    Fault fault;
    co_await socket_.async_read(buffer_, to(fault));
    if (fault) co_return WireEnd{options_.explain(socket_, fault)};
    if (!socket_.got_text())
      co_return WireEnd{options_.binary, boost::beast::websocket::close_code::unknown_data};
    std::string message = boost::beast::buffers_to_string(buffer_.data());
    buffer_.consume(buffer_.size());
    if (buffer_.capacity() > kKeptBuffer) buffer_.shrink_to_fit();
    co_return message;
  }

  link::Task<core::Result<std::size_t>> write(std::span<const std::string_view> messages) override {
    Fault fault;
    const std::string_view first = messages.front();
    co_await socket_.async_write(boost::asio::buffer(first.data(), first.size()), to(fault));
    if (fault) co_return options_.explain(socket_, fault);
    co_return 1;
  }

  link::Task<std::optional<core::Error>> close(std::uint16_t code) override {
    if constexpr (requires { socket_.next_layer().end_at_goodbye(); })
      socket_.next_layer().end_at_goodbye();
    link::Alarm late(context_, [this] { hang_up(false); });
    late.set(std::chrono::steady_clock::now() + options_.close_timeout);
    Fault ignored;
    co_await socket_.async_close(static_cast<boost::beast::websocket::close_code>(code),
                                 to(ignored));
    co_return std::nullopt;
  }

  void hang_up(bool /*is_all_sent*/) override {
    Fault ignored;
    boost::beast::get_lowest_layer(socket_).close(ignored);
    if (auto then = std::exchange(options_.on_hang_up, nullptr)) then();
  }

  void set_reading(bool is_on) override {
    if (!options_.idle_timeout || std::exchange(is_watching_, is_on) == is_on) return;
    socket_.set_option(
        Timeout{options_.close_timeout,
                is_on ? *options_.idle_timeout : boost::beast::websocket::stream_base::none(),
                /*keep_alive_pings=*/true});
  }

 private:
  static constexpr std::size_t kKeptBuffer = 64 * 1024;

  static auto to(Fault& fault) {
    return boost::asio::redirect_error(boost::asio::use_awaitable, fault);
  }

  boost::asio::io_context& context_;
  Socket socket_;
  Options options_;
  boost::beast::flat_buffer buffer_;
  bool is_watching_ = true;
};

}  // namespace league::transport::connection
