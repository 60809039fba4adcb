#include "common/transport/client/peer_stream.h"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace league::transport::client {

namespace {

namespace asio = boost::asio;

/// `done` as a handler that Asio can move without copying it.
auto handler_of(PeerStream::Done done) {
  return [done = std::move(done)](boost::system::error_code fault, std::size_t count) {
    done(fault, count);
  };
}

}  // namespace

struct PeerStream::Tls : asio::ssl::stream<Socket&> {
  using stream::stream;
};

PeerStream::PeerStream(Socket socket) : socket_(std::make_unique<Socket>(std::move(socket))) {}
PeerStream::PeerStream(PeerStream&& other) noexcept = default;
PeerStream& PeerStream::operator=(PeerStream&& other) noexcept = default;
PeerStream::~PeerStream() = default;

ssl_st* PeerStream::secure(asio::ssl::context& context) {
  tls_ = std::make_unique<Tls>(*socket_, context);
  return tls_->native_handle();
}

void PeerStream::shake_hands(std::function<void(boost::system::error_code)> done) {
  tls_->async_handshake(asio::ssl::stream_base::client, std::move(done));
}

void PeerStream::close() {
  boost::system::error_code ignored;
  socket_->close(ignored);
}

void PeerStream::read_some(asio::mutable_buffer buffer, Done done) {
  if (tls_) {
    tls_->async_read_some(buffer, handler_of(std::move(done)));
  } else {
    socket_->async_read_some(buffer, handler_of(std::move(done)));
  }
}

void PeerStream::write_some(const Pieces& pieces, Done done) {
  if (tls_) {
    tls_->async_write_some(pieces, handler_of(std::move(done)));
  } else {
    socket_->async_write_some(pieces, handler_of(std::move(done)));
  }
}

void PeerStream::write(const Pieces& pieces, Done done) {
  if (tls_) {
    asio::async_write(*tls_, pieces, handler_of(std::move(done)));
  } else {
    asio::async_write(*socket_, pieces, handler_of(std::move(done)));
  }
}

}  // namespace league::transport::client
