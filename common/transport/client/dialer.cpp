#include "common/transport/client/dialer.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>
#include <vector>

#include "common/transport/link/resolver.h"
#include "common/transport/link/socket.h"

namespace league::transport::client {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using link::Task;
using SystemError = boost::system::error_code;

/// Shared by all connections, because loading the system's root certificates takes milliseconds.
asio::ssl::context& tls_context() {
  static asio::ssl::context context = [] {
    asio::ssl::context made(asio::ssl::context::tls_client);
    SystemError ignored;  // ignored: without roots every certificate is refused later
    made.set_default_verify_paths(ignored);
    ::SSL_CTX_set_min_proto_version(made.native_handle(), TLS1_2_VERSION);
    made.set_verify_mode(asio::ssl::verify_peer);
    return made;
  }();
  return context;
}

/// Resolves names with the system's resolver, which blocks, possibly for many seconds, so several
/// threads resolve names in parallel. The threads start with the first name and end with the event
/// loop.
class NameResolver final : public asio::execution_context::service {
 public:
  using Resolved = core::Result<std::vector<std::string>>;
  static inline asio::execution_context::id id;  // NOLINT: Asio finds the service by it

  explicit NameResolver(asio::execution_context& owner) : service(owner) {}

  /// Calls `done` on another thread.
  void resolve(std::string host, std::function<void(Resolved)> done) {
    asio::post(threads_, [host = std::move(host), done = std::move(done)] {
      done(transport::link::resolve(host));
    });
  }

 private:
  void shutdown() override {
    threads_.stop();
    threads_.join();
  }

  static constexpr std::size_t kMostAtOnce = 16;
  asio::thread_pool threads_{kMostAtOnce};
};

/// Enables TCP keep-alives, so that a vanished peer is noticed within two minutes even if nothing
/// is sent.
void keep_watch(int fd) {
  int on = 1;
  int idle = 60;
  int interval = 15;
  int count = 4;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

std::string next_connection_id() {
  static std::atomic<std::uint64_t> next = 1;
  return "client-" + std::to_string(next++);
}

core::Error timed_out() { return {core::ErrorCode::kTimeout, "the deadline has passed", {}}; }

core::Error broken(std::string cause) {
  return {core::ErrorCode::kConnectionError, std::move(cause), {}};
}

Task<NameResolver::Resolved> resolve(asio::io_context* context, std::string host,
                                     core::Clock::Steady deadline) {
  struct Wait {
    explicit Wait(asio::io_context& its_context) : gate(its_context) {}
    link::Gate gate;
    NameResolver::Resolved found = timed_out();
  };
  auto wait = std::make_shared<Wait>(*context);
  auto done = [wait, context](NameResolver::Resolved found) mutable {
    // A gate must not be destroyed on the resolver's thread.
    asio::post(*context, [wait = std::move(wait), found = std::move(found)]() mutable {
      wait->found = std::move(found);
      wait->gate.open();
    });
  };
  asio::use_service<NameResolver>(*context).resolve(std::move(host), std::move(done));
  link::Alarm alarm(*context, [&wait] { wait->gate.open(); });
  alarm.set(deadline);
  co_await wait->gate.pass();
  co_return std::move(wait->found);
}

Task<core::Result<std::vector<tcp::endpoint>>> addresses_of(asio::io_context* context,
                                                            link::Endpoint endpoint,
                                                            core::Clock::Steady deadline) {
  std::vector<tcp::endpoint> addresses;
  auto add = [&](const std::string& text) {
    SystemError fault;
    auto address = asio::ip::make_address(text, fault);
    if (!fault) addresses.emplace_back(address, endpoint.port);
  };
  if (!endpoint.pinned_address.empty()) {
    add(endpoint.pinned_address);
  } else if (endpoint.host == "localhost") {
    add("127.0.0.1");
    add("::1");
  } else {
    add(endpoint.host);
  }
  if (!addresses.empty()) co_return addresses;
  const auto found = co_await resolve(context, endpoint.host, deadline);
  if (!found) co_return found.error();
  for (const auto& address : *found) add(address);
  co_return addresses;
}

Task<core::Result<PeerStream>> connect(asio::io_context* context, tcp::endpoint address,
                                       core::Clock::Steady until) {
  PeerStream stream{tcp::socket(*context)};
  bool is_late = false;
  link::Alarm alarm(*context, [&] {
    is_late = true;
    stream.close();
  });
  alarm.set(until);
  SystemError fault;
  co_await stream.next_layer().async_connect(address,
                                             asio::redirect_error(asio::use_awaitable, fault));
  if (is_late || fault == asio::error::timed_out) co_return timed_out();
  if (fault) co_return broken(fault.message());
  co_return stream;
}

/// Whether TLS was set up for the host's name or address.
bool expects_host(SSL* session, const std::string& host, bool is_name) {
  if (!is_name)
    return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session), host.c_str()) == 1;
  return ::SSL_set_tlsext_host_name(session, host.c_str()) == 1 &&
         ::SSL_set1_host(session, host.c_str()) == 1;
}

Task<core::Result<void>> secure(asio::io_context* context, Dialed* dialed, std::string host,
                                core::Clock::Steady deadline) {
  SSL* session = dialed->stream.secure(tls_context());
  SystemError no_address;
  asio::ip::make_address(host, no_address);
  const bool is_name = static_cast<bool>(no_address);
  if (!expects_host(session, host, is_name)) co_return broken("TLS: cannot be set up");
  bool is_late = false;
  link::Alarm alarm(*context, [&] {
    is_late = true;
    dialed->stream.close();
  });
  alarm.set(deadline);
  const SystemError fault = co_await dialed->stream.shake_hands();
  if (is_late) co_return timed_out();
  if (fault) {
    const long verified = ::SSL_get_verify_result(session);
    co_return broken(verified == X509_V_OK ? "TLS: " + fault.message()
                                           : std::string("TLS: the certificate is not accepted: ") +
                                                 ::X509_verify_cert_error_string(verified));
  }
  auto info = std::make_shared<rpc::ConnectionInfo>(*dialed->info);
  info->tls = {.version = ::SSL_get_version(session),
               .cipher = ::SSL_get_cipher_name(session),
               .server_name = is_name ? host : std::string()};
  dialed->info = std::move(info);
  co_return core::Result<void>();
}

}  // namespace

Task<core::Result<Dialed>> dial(asio::io_context* context, link::Endpoint endpoint,
                                core::Clock::Steady deadline) {
  const auto addresses = co_await addresses_of(context, endpoint, deadline);
  if (!addresses) co_return addresses.error();
  core::Error last = timed_out();
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) co_return timed_out();
    const bool is_last = i + 1 == addresses->size();
    auto stream =
        co_await connect(context, (*addresses)[i], is_last ? deadline : now + (deadline - now) / 2);
    if (!stream) {
      last = stream.error();
      continue;
    }
    const int fd = stream->next_layer().native_handle();
    link::set_no_delay(fd);
    keep_watch(fd);
    Dialed dialed{*std::move(stream),
                  std::make_shared<rpc::ConnectionInfo>(rpc::ConnectionInfo{
                      link::remote_address(fd).text(), link::local_address(fd).text(),
                      next_connection_id(), std::nullopt})};
    if (link::is_tls(endpoint)) {
      auto secured = co_await secure(context, &dialed, endpoint.host, deadline);
      if (!secured) co_return secured.error();
    }
    co_return dialed;
  }
  co_return last;
}

}  // namespace league::transport::client
