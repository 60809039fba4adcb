#pragma once

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <memory>
#include <utility>

namespace league::transport {

/// A TCP connection, with TLS or without: Asio's AsyncStream. Movable; not thread-safe. Only the
/// sources of connections to HTTP servers include this.
class PeerStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Tls = boost::asio::ssl::stream<Socket&>;
  using executor_type = Socket::executor_type;  // NOLINT(readability-identifier-naming): Asio's
  using next_layer_type = Socket;  // NOLINT(readability-identifier-naming): Asio's

  explicit PeerStream(Socket socket) : socket_(std::make_unique<Socket>(std::move(socket))) {}

  [[nodiscard]] executor_type get_executor() { return socket_->get_executor(); }
  [[nodiscard]] Socket& next_layer() { return *socket_; }
  [[nodiscard]] const Socket& next_layer() const { return *socket_; }
  /// From now on everything goes through TLS, once its handshake is made.
  Tls& secure(boost::asio::ssl::context& context) {
    tls_ = std::make_unique<Tls>(*socket_, context);
    return *tls_;
  }
  /// Ends every operation that waits. Safe to call twice.
  void close() {
    boost::system::error_code ignored;
    socket_->close(ignored);
  }

  template <typename Buffers, typename Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return tls_ ? tls_->async_read_some(buffers, std::forward<Handler>(handler))
                : socket_->async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return tls_ ? tls_->async_write_some(buffers, std::forward<Handler>(handler))
                : socket_->async_write_some(buffers, std::forward<Handler>(handler));
  }

 private:
  std::unique_ptr<Socket> socket_;
  std::unique_ptr<Tls> tls_;  // after the socket that it uses
};

// How Beast ends a WebSocket's connection after the closing handshake.
inline void teardown(boost::beast::role_type /*role*/, PeerStream& stream,
                     boost::system::error_code& fault) {
  stream.close();
  fault = {};
}
template <typename Handler>
void async_teardown(boost::beast::role_type /*role*/, PeerStream& stream, Handler&& handler) {
  stream.close();
  boost::asio::post(stream.get_executor(), [handler = std::forward<Handler>(handler)]() mutable {
    handler(boost::system::error_code{});
  });
}

}  // namespace league::transport
