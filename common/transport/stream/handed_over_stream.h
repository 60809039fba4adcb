#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/buffered_read_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <utility>

namespace league::transport {

/// A socket whose first bytes have been read by somebody else. For Beast's WebSocket; seen by its
/// source only.
class HandedOverStream : public boost::beast::buffered_read_stream<boost::asio::ip::tcp::socket,
                                                                   boost::beast::flat_buffer> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  explicit HandedOverStream(Socket socket) : buffered_read_stream(std::move(socket)) {}

  /// A close of ours ends when the peer has said goodbye: nothing more can come that would have to
  /// be read first, so that the peer sees why. Without this its end of the connection is awaited.
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
