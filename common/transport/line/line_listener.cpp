#include "common/transport/line/line_listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <future>
#include <map>
#include <utility>

#include "common/transport/connection/served_connections.h"
#include "common/transport/line/unix_socket.h"

namespace league::transport::line {
namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

constexpr int kAcceptsAtOnce = 16;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

}  // namespace

/// Accepts connections on the event loop's thread.
struct LineListener::Impl {
  Impl(link::EventLoop& the_loop, LineListenerOptions the_options,
       link::MessageHandler& the_handler)
      : loop(the_loop),
        options(std::move(the_options)),
        served(std::make_shared<connection::ServedConnections>(the_handler, options.max_in_work)),
        acceptor(loop.context()),
        pause(loop.context()) {}

  link::Task<void> accept_all();
  bool accept_one();
  void welcome(core::FileDescriptor socket);
  [[nodiscard]] bool takes(const std::string& ip) const;
  void let_go(const std::string& ip);
  [[nodiscard]] rpc::TransportContext context_of(int fd) const;
  void begin_stop();
  void stop(std::chrono::milliseconds grace);

  link::EventLoop& loop;
  const LineListenerOptions options;
  const std::shared_ptr<connection::ServedConnections> served;
  std::uint16_t port = 0;
  std::string url;
  std::promise<void> stopped_accepting;
  const std::shared_future<void> has_stopped_accepting = stopped_accepting.get_future().share();
  std::atomic<bool> is_stopping = false;
  std::atomic<bool> is_closing = false;

  // On the event loop's thread.
  Descriptor acceptor;
  boost::asio::steady_timer pause;
  UnixSocketFile file;
  std::map<std::string, std::size_t> by_address;  ///< except for loopback and Unix sockets
};

/// Ends when stop() closes the acceptor.
link::Task<void> LineListener::Impl::accept_all() {
  boost::system::error_code fault;
  auto to_fault = boost::asio::redirect_error(boost::asio::use_awaitable, fault);
  while (acceptor.is_open()) {
    int accepted = 0;
    while (accepted < kAcceptsAtOnce && !is_stopping && accept_one()) ++accepted;
    const bool lacks_descriptors =
        accepted < kAcceptsAtOnce &&
        (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
    if (lacks_descriptors) {
      // Without the pause, the waiting connection would wake us again and again.
      pause.expires_after(kPauseWithoutDescriptors);
      co_await pause.async_wait(to_fault);
    }
    if (acceptor.is_open()) co_await acceptor.async_wait(Descriptor::wait_read, to_fault);
  }
  file.remove();
  auto stopped = std::move(stopped_accepting);  // who waits for it may destroy this object
  stopped.set_value();
}

/// False, with errno set, if there is no connection.
bool LineListener::Impl::accept_one() {
  int fd = -1;
  do {
    fd = ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (fd < 0) return false;
  welcome(core::FileDescriptor(fd));
  return true;
}

bool LineListener::Impl::takes(const std::string& ip) const {
  if (served->counts().open >= options.max_connections) return false;
  auto found = by_address.find(ip);
  return found == by_address.end() || found->second < options.max_connections_per_address;
}

rpc::TransportContext LineListener::Impl::context_of(int fd) const {
  static std::atomic<std::uint64_t> next_number = 1;  // unique within the process
  rpc::ConnectionInfo info;
  bool is_unix = !options.unix_path.empty();
  info.connection_id = (is_unix ? "unix-" : "tcp-") + std::to_string(next_number++);
  if (is_unix) {
    info.local_address = options.unix_path;
  } else {
    info.remote_address = link::remote_address(fd).text();
    info.local_address = link::local_address(fd).text();
  }
  return rpc::TransportContext::socket(is_unix ? rpc::TransportType::kUnix
                                               : rpc::TransportType::kTcp)
      .with_connection(std::make_shared<const rpc::ConnectionInfo>(std::move(info)));
}

void LineListener::Impl::welcome(core::FileDescriptor socket) {
  const bool is_unix = !options.unix_path.empty();
  auto remote = is_unix ? link::SocketAddress{} : link::remote_address(socket.get());
  const std::string counted = is_unix || remote.is_loopback ? std::string() : remote.ip;
  if (!takes(counted)) return;
  if (!is_unix) link::set_no_delay(socket.get());
  auto context = context_of(socket.get());
  auto connection = line_connection(
      loop,
      {std::move(socket), {}, std::move(context), rpc::MessageDirection::kClientToServer, true},
      options.limits);
  if (!counted.empty()) ++by_address[counted];
  // This object outlives the connection: its end is waited for.
  if (!served->serve(connection, [this, counted] { let_go(counted); })) let_go(counted);
}

void LineListener::Impl::let_go(const std::string& ip) {
  auto found = by_address.find(ip);
  if (found != by_address.end() && --found->second == 0) by_address.erase(found);
}

void LineListener::Impl::begin_stop() {
  is_stopping = true;
  served->begin_stop();
}

void LineListener::Impl::stop(std::chrono::milliseconds grace) {
  begin_stop();
  if (!is_closing.exchange(true)) {
    loop.post([this] {
      boost::system::error_code ignored;
      acceptor.close(ignored);
      pause.cancel();
    });
  }
  has_stopped_accepting.wait();
  served->stop(grace);
}

core::Result<std::unique_ptr<LineListener>> LineListener::start(link::EventLoop& loop,
                                                                const LineListenerOptions& options,
                                                                link::MessageHandler& handler) {
  auto impl = std::make_unique<Impl>(loop, options, handler);
  auto socket = options.unix_path.empty() ? link::listen_on(options.bind_address, options.port)
                                          : listen_on_unix(options.unix_path, impl->file);
  if (!socket) return socket.error();
  if (options.unix_path.empty()) {
    auto bound = link::local_address(socket->get());
    impl->port = bound.port;
    impl->url = "tcp://" + bound.text();
  } else {
    impl->url = "unix:" + options.unix_path;
  }
  boost::system::error_code fault;
  impl->acceptor.assign(socket->release(), fault);
  if (fault) {
    return core::Error{
        core::ErrorCode::kInternalError, "cannot wait for connections: " + fault.message(), {}};
  }
  boost::asio::co_spawn(loop.context(), impl->accept_all(), boost::asio::detached);
  return std::unique_ptr<LineListener>(new LineListener(std::move(impl)));
}

LineListener::LineListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LineListener::~LineListener() { stop(std::chrono::milliseconds(0)); }

void LineListener::begin_stop() { impl_->begin_stop(); }
void LineListener::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }
std::uint16_t LineListener::port() const { return impl_->port; }
const std::string& LineListener::url() const { return impl_->url; }
std::size_t LineListener::connections() const { return impl_->served->counts().open; }

}  // namespace league::transport::line
