#include "common/transport/tls_channel.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>

namespace league::transport {

namespace {

using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;
using SessionPtr = std::unique_ptr<SSL, decltype(&::SSL_free)>;

/// One context for all connections: reading the system's roots takes milliseconds. Immutable once
/// made.
SSL_CTX* client_context() {
  static const ContextPtr context = [] {
    ContextPtr made(::SSL_CTX_new(::TLS_client_method()), ::SSL_CTX_free);
    if (!made) return made;
    ::SSL_CTX_set_min_proto_version(made.get(), TLS1_2_VERSION);
    ::SSL_CTX_set_default_verify_paths(made.get());
    ::SSL_CTX_set_verify(made.get(), SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_mode(made.get(),
                       SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return made;
  }();
  return context.get();
}

bool is_numeric(const std::string& host) {
  std::array<unsigned char, 16> raw{};
  return ::inet_pton(AF_INET, host.c_str(), raw.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), raw.data()) == 1;
}

std::string tls_cause(SSL* session) {
  long verified = ::SSL_get_verify_result(session);
  if (verified != X509_V_OK) {
    return std::string("TLS: the certificate is not accepted: ") +
           ::X509_verify_cert_error_string(verified);
  }
  std::array<char, 160> text{};
  ::ERR_error_string_n(::ERR_get_error(), text.data(), text.size());
  ::ERR_clear_error();
  return std::string("TLS: ") + text.data();
}

class TlsChannel final : public Channel {
 public:
  TlsChannel(FileDescriptor socket, SessionPtr session)
      : socket_(std::move(socket)), session_(std::move(session)) {}

  Step read(char* to, std::size_t size) override {
    return step(::SSL_read(session_.get(), to, clamp(size)));
  }
  Step write(const char* from, std::size_t size) override {
    return step(::SSL_write(session_.get(), from, clamp(size)));
  }
  [[nodiscard]] int descriptor() const override { return socket_.get(); }
  Step handshake() { return step(::SSL_connect(session_.get())); }
  [[nodiscard]] SSL* session() const { return session_.get(); }

 private:
  static int clamp(std::size_t size) {
    return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
  }
  Step step(int count) {
    if (count > 0) return {Step::Kind::kBytes, static_cast<std::size_t>(count), {}};
    switch (::SSL_get_error(session_.get(), count)) {
      case SSL_ERROR_WANT_READ:
        return {Step::Kind::kWantRead, 0, {}};
      case SSL_ERROR_WANT_WRITE:
        return {Step::Kind::kWantWrite, 0, {}};
      case SSL_ERROR_ZERO_RETURN:
        return {Step::Kind::kEnd, 0, {}};
      default:
        return {Step::Kind::kFailed, 0, tls_cause(session_.get())};
    }
  }

  FileDescriptor socket_;
  SessionPtr session_;  // after the socket that it uses
};

bool name_peer(SSL* session, const std::string& host) {
  if (is_numeric(host)) {
    return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
  }
  return ::SSL_set_tlsext_host_name(session, host.c_str()) == 1 &&
         ::SSL_set1_host(session, host.c_str()) == 1;
}

core::Result<void> shake_hands(TlsChannel& channel, const Patience& patience) {
  for (;;) {
    auto step = channel.handshake();
    if (step.kind == Channel::Step::Kind::kBytes) return {};
    if (step.kind == Channel::Step::Kind::kEnd || step.kind == Channel::Step::Kind::kFailed) {
      return core::Error{core::ErrorCode::kConnectionError,
                         step.cause.empty() ? "TLS: the peer closed the connection" : step.cause,
                         {}};
    }
    short events = step.kind == Channel::Step::Kind::kWantRead ? POLLIN : POLLOUT;
    if (auto ready = wait_ready(channel.descriptor(), events, patience); !ready) return ready;
  }
}

}  // namespace

core::Result<std::unique_ptr<Channel>> make_tls_channel(FileDescriptor socket,
                                                        const std::string& host,
                                                        const Patience& patience,
                                                        std::optional<rpc::TlsInfo>& info) {
  SSL_CTX* context = client_context();
  SessionPtr session(context != nullptr ? ::SSL_new(context) : nullptr, ::SSL_free);
  if (!session || ::SSL_set_fd(session.get(), socket.get()) != 1 ||
      !name_peer(session.get(), host)) {
    return core::Error{core::ErrorCode::kConnectionError, "TLS: cannot be set up", {}};
  }
  auto channel = std::make_unique<TlsChannel>(std::move(socket), std::move(session));
  if (auto done = shake_hands(*channel, patience); !done) return done.error();
  info = rpc::TlsInfo{::SSL_get_version(channel->session()),
                      ::SSL_get_cipher_name(channel->session()),
                      {},
                      is_numeric(host) ? std::string{} : host};
  return std::unique_ptr<Channel>(std::move(channel));
}

}  // namespace league::transport
