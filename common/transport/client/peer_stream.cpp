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

/// Awaits an operation whose error goes into `fault`.
auto into(boost::system::error_code& fault) {
  return asio::redirect_error(asio::use_awaitable, fault);
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

link::Task<boost::system::error_code> PeerStream::shake_hands() {
  boost::system::error_code fault;
  co_await tls_->async_handshake(asio::ssl::stream_base::client, into(fault));
  co_return fault;
}

void PeerStream::close() {
  boost::system::error_code ignored;
  socket_->close(ignored);
}

link::Task<PeerStream::Transfer> PeerStream::read_some(asio::mutable_buffer buffer) {
  Transfer transfer;
  transfer.count = tls_ ? co_await tls_->async_read_some(buffer, into(transfer.fault))
                        : co_await socket_->async_read_some(buffer, into(transfer.fault));
  co_return transfer;
}

link::Task<PeerStream::Transfer> PeerStream::write(Pieces pieces) {
  Transfer transfer;
  transfer.count = tls_ ? co_await asio::async_write(*tls_, pieces, into(transfer.fault))
                        : co_await asio::async_write(*socket_, pieces, into(transfer.fault));
  co_return transfer;
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

}  // namespace league::transport::client
