#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/role.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "common/transport/link/task.h"

namespace boost::asio::ssl {  // NOLINT(readability-identifier-naming): not ours
class context;
}
struct ssl_st;

namespace league::transport::client {

/// A TCP connection, with or without TLS: Asio's AsyncStream. Movable; not thread-safe. Included
/// only by the sources for connections to HTTP servers. All completion handlers have one function
/// type, so that Asio's operations on sockets and TLS are compiled only once.
class PeerStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;  // NOLINT(readability-identifier-naming): Asio's
  using next_layer_type = Socket;  // NOLINT(readability-identifier-naming): Asio's
  using Done = std::function<void(boost::system::error_code, std::size_t)>;
  using Pieces = std::array<boost::asio::const_buffer, 4>;
  /// How reading or writing went.
  struct Transfer {
    boost::system::error_code fault;
    std::size_t count = 0;  ///< bytes, also if it failed in the middle
  };

  explicit PeerStream(Socket socket);
  PeerStream(PeerStream&& other) noexcept;
  PeerStream& operator=(PeerStream&& other) noexcept;
  ~PeerStream();

  [[nodiscard]] executor_type get_executor() { return socket_->get_executor(); }
  [[nodiscard]] Socket& next_layer() { return *socket_; }
  [[nodiscard]] const Socket& next_layer() const { return *socket_; }
  /// From now on all data goes through TLS, once the handshake is done. Returns OpenSSL's session.
  ssl_st* secure(boost::asio::ssl::context& context);
  link::Task<boost::system::error_code> shake_hands();
  /// Cancels all pending operations. Safe to call twice.
  void close();

  /// The memory of `buffer` must stay valid until the end.
  link::Task<Transfer> read_some(boost::asio::mutable_buffer buffer);
  /// Writes all of the bytes; as read_some.
  link::Task<Transfer> write(Pieces pieces);

  // The interface that Beast's WebSocket calls, and what it is made of.
  void read_some(boost::asio::mutable_buffer buffer, Done done);
  void write_some(const Pieces& pieces, Done done);
  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    boost::asio::mutable_buffer first;
    for (auto at = boost::asio::buffer_sequence_begin(buffers);
         first.size() == 0 && at != boost::asio::buffer_sequence_end(buffers); ++at)
      first = *at;
    read_some(first, shared(std::forward<Handler>(handler)));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    Pieces pieces;
    std::size_t used = 0;
    for (auto at = boost::asio::buffer_sequence_begin(buffers);
         used < pieces.size() && at != boost::asio::buffer_sequence_end(buffers); ++at) {
      const boost::asio::const_buffer piece = *at;
      if (piece.size() > 0) pieces.at(used++) = piece;
    }
    write_some(pieces, shared(std::forward<Handler>(handler)));
  }

 private:
  struct Tls;

  /// Beast's handlers can only be moved.
  template <typename Handler>
  static Done shared(Handler&& handler) {
    return [kept = std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler))](
               boost::system::error_code fault, std::size_t count) { (*kept)(fault, count); };
  }

  std::unique_ptr<Socket> socket_;
  std::unique_ptr<Tls> tls_;  // after the socket that it uses
};

// Called by Beast to end a WebSocket's connection after the closing handshake.
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

}  // namespace league::transport::client
