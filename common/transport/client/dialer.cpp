#include "common/transport/client/dialer.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>
#include <vector>

#include "common/transport/link/resolver.h"
#include "common/transport/link/socket.h"

namespace league::transport::client {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
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

class DialAttempt final : public std::enable_shared_from_this<DialAttempt> {
 public:
  DialAttempt(asio::io_context& context, const link::Endpoint& endpoint,
              core::Clock::Steady deadline, std::function<void(core::Result<Dialed>)> done)
      : context_(context),
        endpoint_(endpoint),
        deadline_(deadline),
        done_(std::move(done)),
        timer_(context) {}

  void begin() {
    if (!endpoint_.pinned_address.empty()) {
      add(endpoint_.pinned_address);
    } else if (endpoint_.host == "localhost") {
      add("127.0.0.1");
      add("::1");
    } else {
      add(endpoint_.host);
    }
    if (!addresses_.empty()) {
      asio::post(context_, [self = shared_from_this()] { self->try_next(); });
      return;
    }
    wait_until(deadline_);
    auto done = [this, self = shared_from_this()](NameResolver::Resolved found) mutable {
      // The object must not be destroyed on the resolver's thread.
      asio::post(context_,
                 [self = std::move(self), found = std::move(found)] { self->on_resolved(found); });
    };
    asio::use_service<NameResolver>(context_).resolve(endpoint_.host, std::move(done));
  }

  void cancel() {
    done_ = nullptr;
    stop();
  }

 private:
  void add(const std::string& text) {
    SystemError fault;
    auto address = asio::ip::make_address(text, fault);
    if (!fault) addresses_.emplace_back(address, endpoint_.port);
  }

  void on_resolved(const NameResolver::Resolved& found) {
    if (!done_ || has_run_out_) return;
    if (!found) return finish(found.error().code, found.error().message);
    for (const auto& address : *found) add(address);
    try_next();
  }

  /// Each address except the last gets half of the remaining time.
  void try_next() {
    if (!done_) return;
    auto now = std::chrono::steady_clock::now();
    if (next_ == addresses_.size() || now >= deadline_) return give_up();
    auto until = deadline_;
    if (next_ + 1 < addresses_.size()) until = now + (deadline_ - now) / 2;
    has_run_out_ = false;
    wait_until(until);
    stream_.emplace(tcp::socket(context_));
    stream_->next_layer().async_connect(
        addresses_[next_++],
        [self = shared_from_this()](SystemError fault) { self->on_connected(fault); });
  }

  void on_connected(SystemError fault) {
    if (!done_) return;
    if (fault || has_run_out_) {
      last_fault_ = has_run_out_ ? SystemError(asio::error::timed_out) : fault;
      return try_next();
    }
    int fd = stream_->next_layer().native_handle();
    link::set_no_delay(fd);
    keep_watch(fd);
    info_ = {link::remote_address(fd).text(), link::local_address(fd).text(), next_connection_id(),
             std::nullopt};
    if (!link::is_tls(endpoint_)) return succeed();
    wait_until(deadline_);
    secure();
  }

  void secure() {
    SSL* session = stream_->secure(tls_context());
    SystemError no_address;
    asio::ip::make_address(endpoint_.host, no_address);
    bool is_named = no_address ? ::SSL_set_tlsext_host_name(session, endpoint_.host.c_str()) == 1 &&
                                     ::SSL_set1_host(session, endpoint_.host.c_str()) == 1
                               : ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session),
                                                                 endpoint_.host.c_str()) == 1;
    if (!is_named) return finish(core::ErrorCode::kConnectionError, "TLS: cannot be set up");
    info_.tls.emplace().server_name = no_address ? endpoint_.host : std::string();
    stream_->shake_hands([self = shared_from_this(), session](SystemError fault) {
      self->on_secured(fault, session);
    });
  }

  void on_secured(SystemError fault, SSL* session) {
    if (!done_ || has_run_out_) return give_up();
    if (fault) {
      long verified = ::SSL_get_verify_result(session);
      return finish(core::ErrorCode::kConnectionError,
                    verified == X509_V_OK ? "TLS: " + fault.message()
                                          : std::string("TLS: the certificate is not accepted: ") +
                                                ::X509_verify_cert_error_string(verified));
    }
    info_.tls->version = ::SSL_get_version(session);
    info_.tls->cipher = ::SSL_get_cipher_name(session);
    succeed();
  }

  void succeed() {
    timer_.cancel();
    auto done = std::exchange(done_, nullptr);
    Dialed dialed{*std::move(stream_),
                  std::make_shared<const rpc::ConnectionInfo>(std::move(info_))};
    stream_.reset();
    done(std::move(dialed));
  }

  void give_up() {
    if (has_run_out_ || last_fault_ == asio::error::timed_out ||
        std::chrono::steady_clock::now() >= deadline_) {
      return finish(core::ErrorCode::kTimeout, "the deadline has passed");
    }
    finish(core::ErrorCode::kConnectionError, last_fault_.message());
  }

  void finish(core::ErrorCode code, std::string cause) {
    stop();
    if (auto done = std::exchange(done_, nullptr)) done(core::Error{code, std::move(cause), {}});
  }

  void wait_until(core::Clock::Steady until) {
    timer_.expires_at(until);
    timer_.async_wait([self = shared_from_this()](SystemError fault) {
      // The timer may have been set again while this callback was pending.
      bool is_old = self->timer_.expiry() > std::chrono::steady_clock::now();
      if (fault || is_old || !self->done_) return;
      self->has_run_out_ = true;
      self->on_time_out();
    });
  }

  void on_time_out() {
    if (!stream_) return give_up();  // still resolving
    stream_->close();
  }

  void stop() {
    timer_.cancel();
    if (stream_) stream_->close();
  }

  asio::io_context& context_;
  const link::Endpoint endpoint_;
  const core::Clock::Steady deadline_;
  std::function<void(core::Result<Dialed>)> done_;
  asio::steady_timer timer_;
  std::vector<tcp::endpoint> addresses_;
  std::size_t next_ = 0;
  std::optional<PeerStream> stream_;
  rpc::ConnectionInfo info_;
  SystemError last_fault_;
  bool has_run_out_ = false;
};

}  // namespace

std::function<void()> dial(asio::io_context& context, const link::Endpoint& endpoint,
                           core::Clock::Steady deadline,
                           std::function<void(core::Result<Dialed>)> done) {
  auto attempt = std::make_shared<DialAttempt>(context, endpoint, deadline, std::move(done));
  attempt->begin();
  return [weak = std::weak_ptr(attempt)] {
    if (auto running = weak.lock()) running->cancel();
  };
}

}  // namespace league::transport::client
