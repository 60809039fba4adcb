#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffered_read_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <utility>

namespace league::transport {

/// A socket whose first bytes have already been read. For Beast's WebSocket; used by its source
/// file only.
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

}  // namespace league::transport
