#include "common/transport/client/web_socket_connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/connection_parts.h"
#include "common/transport/client/dialer.h"
#include "common/transport/link/receive_buffer.h"

namespace league::transport::client {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using SocketError = boost::system::error_code;

constexpr std::string_view kSubprotocol = "mcp";
constexpr std::size_t kKeptBuffer = 64 * 1024;

/// One connection on the event loop's thread.
class WebSocketCore final : public std::enable_shared_from_this<WebSocketCore> {
 public:
  WebSocketCore(link::EventLoop& loop, const link::Endpoint& endpoint, WebSocketOptions options)
      : loop_(loop),
        endpoint_(endpoint),
        options_(std::move(options)),
        receive_buffer_([this] { go_on_reading(); }),
        close_timer_(loop.context()) {}

  void open(core::Clock::Steady deadline, HttpConnector::OpenedOrFailed opened) {
    deadline_ = deadline;
    opened_ = std::move(opened);
    asio::co_spawn(loop_.context(), connect(shared_from_this()), asio::detached);
  }

  void start(std::shared_ptr<link::MessageReceiver> receiver) {
    receive_buffer_.start(std::move(receiver));
  }

  void send(link::OutboundMessage message) {
    if (receive_buffer_.is_closed() || is_closing_) return tell(message, gone());
    waiting_ += message.bytes.size();
    queue_.push_back(std::move(message));
    if (waiting_ > options_.max_waiting) {
      return finish({core::ErrorCode::kConnectionError,
                     endpoint_.url() + " was dropped: more than " +
                         std::to_string(options_.max_waiting) +
                         " bytes wait for it because it does not read",
                     {}});
    }
    if (!is_writing_) write_next();
  }

  void set_reading(bool is_on) {
    receive_buffer_.set_reading(is_on);
    if (is_on) receive_buffer_.drain();
  }

  void close() {
    if (is_closing_ || receive_buffer_.is_closed()) return;
    is_closing_ = true;
    close_timer_.expires_after(options_.close_timeout);
    close_timer_.async_wait([self = shared_from_this()](SocketError fault) {
      if (!fault) self->finish(closed_by_us(self->endpoint_));
    });
    if (!is_writing_) say_goodbye();
  }

  [[nodiscard]] static rpc::TransportType transport_type() {
    return rpc::TransportType::kWebSocket;
  }
  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::web_socket({}).with_connection(info_);
  }

 private:
  using Socket = websocket::stream<PeerStream, /*deflateSupported=*/false>;

  static link::Task<void> connect(std::shared_ptr<WebSocketCore> self) {
    auto dialed = co_await dial(&self->loop_.context(), self->endpoint_, self->deadline_);
    if (!dialed) co_return self->fail_opening("connect", dialed.error());
    self->shake_hands(*std::move(dialed));
  }
  void shake_hands(Dialed dialed);
  void on_handshake(SocketError fault);
  void fail_opening(std::string_view phase, const core::Error& why, int status = 0);

  void go_on_reading() {
    if (is_reading_ || receive_buffer_.is_closed()) return;
    is_reading_ = receive_buffer_.is_reading();
    watch_for_life(is_reading_);
    if (!is_reading_) return;
    socket_->async_read(buffer_, [self = shared_from_this()](SocketError fault, std::size_t) {
      self->on_read(fault);
    });
  }

  void on_read(SocketError fault) {
    is_reading_ = false;
    if (receive_buffer_.is_closed()) return;
    if (fault) return finish(is_closing_ ? closed_by_us(endpoint_) : cause_of(fault));
    if (!socket_->got_text()) return refuse_binary();
    auto bytes = buffer_.data();
    link::ReceivedMessage message{
        {std::string(static_cast<const char*>(bytes.data()), bytes.size()), context()}};
    buffer_.consume(bytes.size());
    if (buffer_.capacity() > kKeptBuffer) buffer_.shrink_to_fit();
    receive_buffer_.deliver(std::move(message));
    go_on_reading();
  }

  /// Switched off while reading is paused, because the peer's messages would not be noticed then.
  void watch_for_life(bool is_on) {
    if (std::exchange(is_watching_, is_on) == is_on) return;
    websocket::stream_base::timeout patience{};
    patience.handshake_timeout = options_.close_timeout;
    patience.idle_timeout = is_on ? options_.idle_timeout : websocket::stream_base::none();
    patience.keep_alive_pings = true;
    socket_->set_option(patience);
  }

  void refuse_binary() {
    finish({core::ErrorCode::kInvalidReply,
            endpoint_.url() + " sent a binary message; MCP is text (close code 1003)",
            {}},
           websocket::close_code::unknown_data);
  }

  [[nodiscard]] rpc::MessageContext context() const {
    return rpc::MessageContext::now(core::SystemClock(), rpc::MessageDirection::kServerToClient,
                                    current_context());
  }

  void write_next() {
    if (queue_.empty()) {
      if (is_closing_) say_goodbye();
      return;
    }
    is_writing_ = true;
    socket_->async_write(
        asio::buffer(queue_.front().bytes.view()),
        [self = shared_from_this()](SocketError fault, std::size_t) { self->on_written(fault); });
  }

  void on_written(SocketError fault) {
    is_writing_ = false;
    if (receive_buffer_.is_closed()) return drop_queue();
    if (fault) return finish(cause_of(fault));
    link::OutboundMessage sent = std::move(queue_.front());
    queue_.pop_front();
    waiting_ -= sent.bytes.size();
    tell(sent, std::nullopt, 0, {});
    write_next();
  }

  void say_goodbye() {
    socket_->async_close(websocket::close_code::normal,
                         [self = shared_from_this()](SocketError /*fault*/) {
                           self->finish(closed_by_us(self->endpoint_));
                         });
  }

  static core::Error closed_by_us(const link::Endpoint& endpoint) {
    return {
        core::ErrorCode::kShuttingDown, "the connection to " + endpoint.url() + " was closed", {}};
  }
  [[nodiscard]] core::Error gone() const {
    return {core::ErrorCode::kConnectionError,
            "the connection to " + endpoint_.url() + " is closed",
            {}};
  }
  [[nodiscard]] core::Error cause_of(SocketError fault) const;

  /// Ends the connection, whichever side caused it. With `code`, the peer is told the reason.
  void finish(core::Error why, std::uint16_t code = 0) {
    if (receive_buffer_.is_closed()) return;
    close_timer_.cancel();
    if (code != 0) {
      auto self = shared_from_this();
      socket_->async_close(websocket::close_code(code),
                           [self](SocketError /*fault*/) { self->hang_up(); });
    } else {
      hang_up();
    }
    if (!is_writing_) drop_queue();
    if (why.code == core::ErrorCode::kShuttingDown) {
      receive_buffer_.close_now(std::move(why));
    } else {
      receive_buffer_.close(std::move(why));
    }
  }

  void hang_up() { socket_->next_layer().close(); }

  /// The first message of the queue must stay valid while it is being written.
  void drop_queue() {
    for (const auto& message : std::exchange(queue_, {})) tell(message, gone());
  }

  link::EventLoop& loop_;
  const link::Endpoint endpoint_;
  const WebSocketOptions options_;
  link::ReceiveBuffer receive_buffer_;
  asio::steady_timer close_timer_;
  core::Clock::Steady deadline_;
  HttpConnector::OpenedOrFailed opened_;  ///< null once it was called
  std::shared_ptr<const rpc::ConnectionInfo> info_;
  std::optional<Socket> socket_;
  websocket::response_type response_;
  beast::flat_buffer buffer_;
  std::deque<link::OutboundMessage> queue_;
  std::size_t waiting_ = 0;  ///< bytes in the queue
  bool is_reading_ = false;
  bool is_watching_ = false;
  bool is_writing_ = false;
  bool is_closing_ = false;
};

void WebSocketCore::shake_hands(Dialed dialed) {
  info_ = std::move(dialed.info);
  socket_.emplace(std::move(dialed.stream));
  auto left = deadline_ - std::chrono::steady_clock::now();
  websocket::stream_base::timeout patience{};
  patience.handshake_timeout = std::min<core::Clock::Steady::duration>(left, std::chrono::hours(1));
  patience.idle_timeout = websocket::stream_base::none();
  socket_->set_option(patience);
  socket_->set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
    request.set(beast::http::field::user_agent, "league/" LEAGUE_VERSION);
    request.set(beast::http::field::sec_websocket_protocol,
                beast::string_view(kSubprotocol.data(), kSubprotocol.size()));
    for (const auto& field : options_.headers) {
      if (is_sendable(field)) request.insert(field.first, field.second);
    }
  }));
  socket_->read_message_max(options_.max_message);
  socket_->text(true);
  socket_->async_handshake(
      response_, endpoint_.authority(), endpoint_.path,
      [self = shared_from_this()](SocketError fault) { self->on_handshake(fault); });
}

void WebSocketCore::on_handshake(SocketError fault) {
  if (fault == websocket::error::upgrade_declined) {
    int status = static_cast<int>(response_.result_int());
    return fail_opening("upgrade", refusal("GET", endpoint_, status, response_.body()), status);
  }
  if (fault == beast::error::timeout) {
    return fail_opening("upgrade", {core::ErrorCode::kTimeout, "the deadline has passed", {}});
  }
  if (fault) {
    return fail_opening("upgrade", {core::ErrorCode::kConnectionError, fault.message(), {}});
  }
  auto chosen = response_[beast::http::field::sec_websocket_protocol];
  if (!chosen.empty() && chosen != beast::string_view(kSubprotocol.data(), kSubprotocol.size())) {
    return fail_opening("upgrade", {core::ErrorCode::kConnectionError,
                                    "the server chose the subprotocol " +
                                        link::excerpt_of({chosen.data(), chosen.size()}) +
                                        ", which was not offered",
                                    {}});
  }
  is_watching_ = true;
  watch_for_life(false);
  response_ = {};
  auto opened = std::exchange(opened_, nullptr);
  opened(std::shared_ptr<link::MessageConnection>(
      std::make_shared<ConnectionHandle<link::MessageConnection, WebSocketCore>>(
          loop_, shared_from_this())));
}

void WebSocketCore::fail_opening(std::string_view phase, const core::Error& why, int status) {
  if (socket_) hang_up();
  std::string text = why.message;
  if (status == 0) {
    text = "connecting to " + endpoint_.url() + " failed at " + std::string(phase) + ": " + text;
  }
  if (auto opened = std::exchange(opened_, nullptr)) {
    opened(ConnectFailure{{why.code, std::move(text), {}}, status});
  }
}

core::Error WebSocketCore::cause_of(SocketError fault) const {
  std::string text = "the connection to " + endpoint_.url() + " ended: ";
  if (fault == websocket::error::closed) {
    const auto& reason = socket_->reason();
    text += "the peer closed it with code " + std::to_string(reason.code);
    std::string said = link::excerpt_of({reason.reason.data(), reason.reason.size()});
    if (!said.empty()) text += " (" + said + ")";
  } else if (fault == beast::error::timeout) {
    text += "no sign of life for " + std::to_string(options_.idle_timeout.count()) + " ms";
  } else if (fault == asio::error::eof) {
    text += "the peer disconnected without the closing handshake";
  } else if (fault == websocket::error::message_too_big) {
    text += "a message is larger than " + std::to_string(options_.max_message) +
            " bytes (close code 1009)";
  } else {
    text += fault.message();
  }
  return {core::ErrorCode::kConnectionError, std::move(text), {}};
}

}  // namespace

WebSocketConnector::WebSocketConnector(link::EventLoop& loop, WebSocketOptions options)
    : loop_(loop), options_(std::move(options)) {}

void WebSocketConnector::open(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                              OpenedOrFailed opened) {
  if (endpoint.scheme != "ws" && endpoint.scheme != "wss") {
    return opened(ConnectFailure{
        {core::ErrorCode::kEndpointNotAllowed,
         "an endpoint " + endpoint.scheme + "://… is not a WebSocket; use ws:// or wss://",
         {}}});
  }
  loop_.post([core = std::make_shared<WebSocketCore>(loop_, endpoint, options_), deadline,
              opened = std::move(opened)] { core->open(deadline, opened); });
}

}  // namespace league::transport::client
