#include "common/transport/stream/server_web_socket.h"

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffered_read_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket.hpp>
#include <utility>

#include "common/transport/connection/web_socket_wire.h"

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
using HandedOverSocket = connection::WebSocketWire<HandedOverStream>::Socket;
using HandshakeRequest = beast::http::request<beast::http::empty_body>;
using boost::system::error_code;

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

core::Error broken(std::string text) {
  return {core::ErrorCode::kConnectionError, std::move(text), {}};
}

core::Error explain(const HandedOverSocket& /*socket*/, error_code fault) {
  if (fault == websocket::error::closed) return broken("the peer closed the connection");
  return broken("the WebSocket ended: " + fault.message());
}

HandedOverSocket web_socket(boost::asio::io_context& context, link::DetachedSocket& handed,
                            const WebSocketUpgrade& upgrade,
                            const ServerWebSocketOptions& options) {
  HandedOverSocket socket(HandedOverStream(server_socket(context, handed.fd.release())));
  auto& leftover = socket.next_layer().buffer();
  leftover.commit(boost::asio::buffer_copy(leftover.prepare(handed.leftover.size()),
                                           boost::asio::buffer(handed.leftover)));
  socket.set_option(websocket::stream_base::timeout{options.close_timeout, options.idle_timeout,
                                                    /*keep_alive_pings=*/true});
  socket.set_option(websocket::stream_base::decorator(
      [offers_mcp = upgrade.offers_mcp](websocket::response_type& response) {
        if (offers_mcp) response.set(beast::http::field::sec_websocket_protocol, "mcp");
      }));
  socket.read_message_max(options.max_message);
  socket.auto_fragment(false);
  return socket;
}

link::Task<error_code> accept(HandedOverSocket* socket, HandshakeRequest request) {
  error_code fault;
  co_await socket->async_accept(request,
                                boost::asio::redirect_error(boost::asio::use_awaitable, fault));
  co_return fault;
}

}  // namespace

std::shared_ptr<connection::WireConnection> serve_web_socket(
    link::EventLoop& loop, link::DetachedSocket socket, const WebSocketUpgrade& upgrade,
    const ServerWebSocketOptions& options) {
  auto& context = loop.context();
  auto wire = std::make_unique<connection::WebSocketWire<HandedOverStream>>(
      context, web_socket(context, socket, upgrade, options),
      connection::WebSocketWire<HandedOverStream>::Options{
          .close_timeout = options.close_timeout,
          .binary = broken("the peer sent a binary message"),
          .explain = explain,
          .open = [request = handshake_request(upgrade)](
                      HandedOverSocket& accepted) { return accept(&accepted, request); },
          .on_hang_up = [seat = std::move(socket.seat)]() mutable { seat.reset(); }});
  return connection::WireConnection::create(
      loop, std::move(wire),
      {.context = rpc::TransportContext::web_socket({.is_relayed = upgrade.is_relayed})
                      .with_connection(socket.connection),
       .received = rpc::MessageDirection::kClientToServer,
       .max_queue = options.max_queue,
       .may_exceed_queue = true,
       .closed = {{core::ErrorCode::kShuttingDown, "closed here", {}},
                  websocket::close_code::normal},
       .too_slow = {broken("the peer reads too slowly: more than " +
                           std::to_string(options.max_queue) + " bytes wait for it"),
                    websocket::close_code::try_again_later}});
}

}  // namespace league::transport::stream
