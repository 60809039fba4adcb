#include "common/transport/stream/server_web_socket.h"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffered_read_stream.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket.hpp>
#include <deque>
#include <mutex>
#include <utility>

namespace league::transport::stream {

/// A socket whose first bytes have already been read. For Beast's WebSocket.
class HandedOverStream : public boost::beast::buffered_read_stream<boost::asio::ip::tcp::socket,
                                                                   boost::beast::flat_buffer> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  explicit HandedOverStream(Socket socket) : buffered_read_stream(std::move(socket)) {}

  /// Our close ends once the peer has sent its close frame: nothing more can arrive that would have
  /// to be read first, so the peer sees the reason. Without this, we wait for the peer to close the
  /// connection.
  void end_at_goodbye() { ends_at_goodbye_ = true; }
  [[nodiscard]] bool ends_at_goodbye() const { return ends_at_goodbye_; }

 private:
  bool ends_at_goodbye_ = false;
};

// How Beast ends a connection under a WebSocket; found by argument.
inline void teardown(boost::beast::role_type role, HandedOverStream& stream,
                     boost::system::error_code& error) {
  boost::beast::websocket::teardown(role, stream.next_layer(), error);
}

template <typename Handler>
void async_teardown(boost::beast::role_type role, HandedOverStream& stream, Handler&& handler) {
  if (stream.ends_at_goodbye()) {
    boost::system::error_code ignored;
    stream.next_layer().shutdown(HandedOverStream::Socket::shutdown_send, ignored);
    boost::asio::post(stream.get_executor(), [handler = std::forward<Handler>(handler)]() mutable {
      handler(boost::system::error_code{});
    });
    return;
  }
  boost::beast::websocket::async_teardown(role, stream.next_layer(),
                                          std::forward<Handler>(handler));
}

namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using HandshakeRequest = beast::http::request<beast::http::empty_body>;
using boost::system::error_code;

constexpr std::size_t kKeptReadBuffer = 64 * 1024;

boost::asio::ip::tcp::socket server_socket(boost::asio::io_context& context, int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);  // NOLINT: as the API has it
  auto protocol =
      address.ss_family == AF_INET6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4();
  boost::asio::ip::tcp::socket socket(context);
  socket.assign(protocol, fd);
  return socket;
}

HandshakeRequest handshake_request(const WebSocketUpgrade& upgrade) {
  using beast::http::field;
  HandshakeRequest request{beast::http::verb::get, "/", 11};
  request.set(field::host, "localhost");  // the EdgeRules have already checked the real host
  request.set(field::upgrade, "websocket");
  request.set(field::connection, "Upgrade");
  request.set(field::sec_websocket_version, "13");
  request.set(field::sec_websocket_key, upgrade.key);
  return request;
}

class BeastServerWebSocket final : public ServerWebSocket,
                                   public std::enable_shared_from_this<BeastServerWebSocket> {
 public:
  BeastServerWebSocket(link::EventLoop& loop, link::DetachedSocket socket,
                       const WebSocketUpgrade& upgrade, const ServerWebSocketOptions& options)
      : loop_(loop),
        options_(options),
        context_(rpc::TransportContext::web_socket({.is_relayed = upgrade.is_relayed})
                     .with_connection(socket.connection)),
        handshake_(handshake_request(upgrade)),
        seat_(std::move(socket.seat)),
        socket_(HandedOverStream(server_socket(loop.context(), socket.fd.release()))),
        close_timer_(loop.context()) {
    auto& leftover = socket_.next_layer().buffer();
    leftover.commit(boost::asio::buffer_copy(leftover.prepare(socket.leftover.size()),
                                             boost::asio::buffer(socket.leftover)));
    socket_.set_option(websocket::stream_base::timeout{options.close_timeout, options.idle_timeout,
                                                       /*keep_alive_pings=*/true});
    socket_.set_option(websocket::stream_base::decorator(
        [offers_mcp = upgrade.offers_mcp](websocket::response_type& response) {
          if (offers_mcp) response.set(beast::http::field::sec_websocket_protocol, "mcp");
        }));
    socket_.read_message_max(options.max_message);
    socket_.auto_fragment(false);
  }

  void start(std::shared_ptr<link::MessageReceiver> receiver) override {
    loop_.post([self = shared_from_this(), receiver = std::move(receiver)] {
      self->receiver_ = receiver;
      if (self->is_gone_) return self->tell_receiver();
      self->socket_.async_accept(self->handshake_,
                                 [self](const error_code& error) { self->on_accepted(error); });
    });
  }

  void send(link::OutboundMessage message) override;
  void set_reading(bool is_on) override {
    is_reading_ = is_on;
    if (is_on) loop_.post([self = shared_from_this()] { self->read(); });
  }
  void close() override {
    loop_.post([self = shared_from_this()] {
      self->is_close_wanted_ = true;
      self->write_next();
    });
  }
  void announce_stop() override { close_code_ = websocket::close_code::going_away; }
  void cut() override {
    loop_.post([self = shared_from_this()] {
      self->is_close_wanted_ = true;
      self->end("the server stops");
    });
  }
  [[nodiscard]] bool was_dropped() const override { return was_dropped_; }

  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kWebSocket;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override { return context_; }

 private:
  // On the event loop
  void on_accepted(const error_code& error);
  void read();
  void on_read(const error_code& error);
  void take_message();
  void write_next();
  void on_written(const error_code& error);
  void begin_close(websocket::close_code code, const std::string& reason);
  void drop();
  void end(const std::string& reason);
  void tell_receiver();
  [[nodiscard]] std::string read_fault(const error_code& error) const;

  link::EventLoop& loop_;
  const ServerWebSocketOptions options_;
  const rpc::TransportContext context_;
  std::atomic<bool> is_reading_ = true;
  std::atomic<bool> was_dropped_ = false;
  std::atomic<std::uint16_t> close_code_ = websocket::close_code::normal;
  core::SystemClock clock_;

  std::mutex mutex_;  // guards what follows up to the blank line
  std::deque<link::OutboundMessage> queue_;
  std::size_t waiting_ = 0;  ///< bytes in queue_ and in the message that is being written
  bool takes_messages_ = true;

  // Only the event loop touches these.
  HandshakeRequest handshake_;
  std::shared_ptr<void> seat_;
  websocket::stream<HandedOverStream, /*deflateSupported=*/false> socket_;
  boost::asio::steady_timer close_timer_;
  beast::flat_buffer buffer_;
  std::shared_ptr<link::MessageReceiver> receiver_;
  std::optional<link::OutboundMessage> writing_;
  std::string reason_;  ///< why it closes
  bool is_accepted_ = false;
  bool is_read_pending_ = false;
  bool is_close_wanted_ = false;  ///< by us, in good order
  bool is_closing_ = false;  ///< the close frame is on its way
  bool is_gone_ = false;
};

void BeastServerWebSocket::send(link::OutboundMessage message) {
  bool is_too_slow = false;
  {
    std::lock_guard lock(mutex_);
    is_too_slow = takes_messages_ && waiting_ >= options_.max_queue;
    if (is_too_slow) takes_messages_ = false;
    if (takes_messages_) {
      waiting_ += message.bytes.size();
      queue_.push_back(std::move(message));
      loop_.post([self = shared_from_this()] { self->write_next(); });
      return;
    }
  }
  if (is_too_slow) loop_.post([self = shared_from_this()] { self->drop(); });
  if (message.done) {
    message.done({core::Error{core::ErrorCode::kConnectionError, "the WebSocket is closed", {}}});
  }
}

void BeastServerWebSocket::on_accepted(const error_code& error) {
  if (error) return end("the handshake failed: " + error.message());
  if (is_gone_) return;
  is_accepted_ = true;
  socket_.text(true);
  read();
  write_next();
}

void BeastServerWebSocket::read() {
  if (!is_accepted_ || is_read_pending_ || is_closing_ || is_gone_ || !is_reading_) return;
  is_read_pending_ = true;
  socket_.async_read(buffer_, [self = shared_from_this()](const error_code& error, std::size_t) {
    self->is_read_pending_ = false;
    self->on_read(error);
  });
}

void BeastServerWebSocket::on_read(const error_code& error) {
  if (is_gone_) return;
  if (error) {
    end(read_fault(error));
  } else if (!socket_.got_text()) {
    begin_close(websocket::close_code::unknown_data, "the peer sent a binary message");
  } else if (!is_closing_) {
    take_message();
    read();
  }
}

void BeastServerWebSocket::take_message() {
  link::ReceivedMessage message;
  message.bytes = beast::buffers_to_string(buffer_.data());
  buffer_.consume(buffer_.size());
  if (buffer_.capacity() > kKeptReadBuffer) buffer_.shrink_to_fit();
  message.context =
      rpc::MessageContext::now(clock_, rpc::MessageDirection::kClientToServer, context_);
  try {
    receiver_->on_message(std::move(message));
  } catch (...) {
    // The exception's text is not sent, and the state that it left behind must not be used.
    begin_close(websocket::close_code::internal_error, "the message could not be handled");
  }
}

void BeastServerWebSocket::write_next() {
  if (!is_accepted_ || is_closing_ || is_gone_ || writing_) return;
  {
    std::lock_guard lock(mutex_);
    if (!queue_.empty()) {
      writing_ = std::move(queue_.front());
      queue_.pop_front();
    }
  }
  if (!writing_) {
    if (is_close_wanted_) {
      begin_close(static_cast<websocket::close_code>(close_code_.load()), "closed here");
    }
    return;
  }
  socket_.async_write(boost::asio::buffer(writing_->bytes.view()),
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                        self->on_written(error);
                      });
}

void BeastServerWebSocket::on_written(const error_code& error) {
  link::OutboundMessage written = *std::exchange(writing_, std::nullopt);
  {
    std::lock_guard lock(mutex_);
    waiting_ -= written.bytes.size();
  }
  if (written.done) {
    link::SendOutcome outcome;
    if (error) {
      outcome.error = core::Error{
          core::ErrorCode::kConnectionError, "the WebSocket broke: " + error.message(), {}};
    }
    written.done(outcome);
  }
  if (is_gone_) return;
  if (!error) {
    write_next();
  } else if (!is_closing_) {
    end("the connection broke: " + error.message());
  }
}

void BeastServerWebSocket::begin_close(websocket::close_code code, const std::string& reason) {
  if (is_closing_ || is_gone_) return;
  reason_ = reason;
  if (!is_accepted_) return end(reason);
  is_closing_ = true;
  socket_.next_layer().end_at_goodbye();
  close_timer_.expires_after(options_.close_timeout);
  close_timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->end(self->reason_);
  });
  socket_.async_close(code,
                      [self = shared_from_this()](const error_code&) { self->end(self->reason_); });
}

void BeastServerWebSocket::drop() {
  was_dropped_ = true;
  std::deque<link::OutboundMessage> unsent;
  {
    std::lock_guard lock(mutex_);
    unsent.swap(queue_);
  }
  for (auto& message : unsent) {
    if (message.done) {
      message.done({core::Error{core::ErrorCode::kConnectionError, "the peer was dropped", {}}});
    }
  }
  // The frame is sent after the message that the peer is not reading, or never.
  begin_close(websocket::close_code::try_again_later, "the peer reads too slowly: more than " +
                                                          std::to_string(options_.max_queue) +
                                                          " bytes wait for it");
}

std::string BeastServerWebSocket::read_fault(const error_code& error) const {
  if (is_closing_) return reason_;
  if (error == websocket::error::closed) return "the peer closed the connection";
  return "the WebSocket ended: " + error.message();
}

void BeastServerWebSocket::end(const std::string& reason) {
  if (is_gone_) return;
  is_gone_ = true;
  reason_ = reason;
  std::deque<link::OutboundMessage> unsent;
  {
    std::lock_guard lock(mutex_);
    takes_messages_ = false;
    unsent.swap(queue_);
  }
  close_timer_.cancel();
  error_code ignored;
  beast::get_lowest_layer(socket_).close(ignored);
  seat_.reset();
  for (auto& message : unsent) {
    if (message.done) {
      message.done({core::Error{core::ErrorCode::kConnectionError, reason_, {}}});
    }
  }
  if (receiver_) tell_receiver();
}

void BeastServerWebSocket::tell_receiver() {
  auto receiver = std::exchange(receiver_, nullptr);
  receiver->on_closed({is_close_wanted_ && !was_dropped_ ? core::ErrorCode::kShuttingDown
                                                         : core::ErrorCode::kConnectionError,
                       reason_,
                       {}});
}

}  // namespace

std::shared_ptr<ServerWebSocket> ServerWebSocket::create(link::EventLoop& loop,
                                                         link::DetachedSocket socket,
                                                         const WebSocketUpgrade& upgrade,
                                                         const ServerWebSocketOptions& options) {
  return std::make_shared<BeastServerWebSocket>(loop, std::move(socket), upgrade, options);
}

}  // namespace league::transport::stream
