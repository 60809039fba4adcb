#include "common/transport/line/line_listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "common/transport/line/unix_socket.h"
#include "common/transport/link/served_connection.h"

namespace league::transport::line {
namespace {

constexpr int kAcceptsAtOnce = 16;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

}  // namespace

/// Accepts connections on the event loop's thread; the table of connections is also used by stop().
struct LineListener::Impl : std::enable_shared_from_this<Impl> {
  Impl(link::EventLoop& the_loop, LineListenerOptions the_options,
       link::MessageHandler& the_handler)
      : loop(the_loop),
        options(std::move(the_options)),
        handler(the_handler),
        acceptor(loop.context()),
        pause(loop.context()) {}

  struct AcceptedConnection {
    std::shared_ptr<LineConnection> connection;
    std::shared_ptr<link::ServedConnection> served;
    std::string ip;
  };

  void wait();
  void accept_some();
  bool accept_one();
  void welcome(core::FileDescriptor socket);
  void forget(std::uint64_t number);
  [[nodiscard]] bool takes(const std::string& ip, bool is_counted) const;
  [[nodiscard]] rpc::TransportContext context_of(int fd, std::uint64_t number) const;
  void stop_accepting();
  void stop(std::chrono::milliseconds grace);

  link::EventLoop& loop;
  const LineListenerOptions options;
  link::MessageHandler& handler;
  std::uint16_t port = 0;
  std::string url;
  UnixSocketFile file;

  boost::asio::posix::stream_descriptor acceptor;  // on the event loop's thread
  boost::asio::steady_timer pause;
  std::atomic<bool> is_stopping = false;

  mutable std::mutex mutex;  // guards the rest
  std::condition_variable changed;
  bool has_stopped_accepting = false;
  std::map<std::uint64_t, AcceptedConnection> guests;
  std::map<std::string, std::size_t> by_address;
};

void LineListener::Impl::wait() {
  acceptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& fault) {
                        if (!fault && !self->is_stopping) self->accept_some();
                      });
}

void LineListener::Impl::accept_some() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    if (is_stopping) return;
    if (accept_one()) continue;
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) break;
    // Without the pause, the waiting connection would wake us again and again.
    pause.expires_after(kPauseWithoutDescriptors);
    pause.async_wait([self = shared_from_this()](const boost::system::error_code& fault) {
      if (!fault && !self->is_stopping) self->wait();
    });
    return;
  }
  wait();
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

bool LineListener::Impl::takes(const std::string& ip, bool is_counted) const {
  if (guests.size() >= options.max_connections) return false;
  if (!is_counted) return true;
  auto found = by_address.find(ip);
  return found == by_address.end() || found->second < options.max_connections_per_address;
}

rpc::TransportContext LineListener::Impl::context_of(int fd, std::uint64_t number) const {
  rpc::ConnectionInfo info;
  bool is_unix = !options.unix_path.empty();
  info.connection_id = (is_unix ? "unix-" : "tcp-") + std::to_string(number);
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
  static std::atomic<std::uint64_t> next_number = 1;  // unique within the process
  bool is_unix = !options.unix_path.empty();
  auto remote = is_unix ? link::SocketAddress{} : link::remote_address(socket.get());
  bool is_counted = !is_unix && !remote.is_loopback;
  {
    std::lock_guard lock(mutex);
    if (!takes(remote.ip, is_counted)) return;
    if (is_counted) ++by_address[remote.ip];
  }
  if (!is_unix) link::set_no_delay(socket.get());
  auto number = next_number++;
  auto context = context_of(socket.get(), number);
  auto connection = LineConnection::create(
      loop,
      {std::move(socket), {}, std::move(context), rpc::MessageDirection::kClientToServer, true},
      options.limits);
  link::ServedConnectionOptions served;
  served.max_in_work = options.max_in_work;
  served.on_closed = [weak = weak_from_this(), number] {
    if (auto self = weak.lock()) self->forget(number);
  };
  // None of its callbacks runs before this function returns to the event loop.
  auto guest = link::ServedConnection::serve(connection, handler, std::move(served));
  std::lock_guard lock(mutex);
  guests.emplace(number, AcceptedConnection{std::move(connection), std::move(guest),
                                            is_counted ? remote.ip : std::string()});
}

void LineListener::Impl::forget(std::uint64_t number) {
  std::lock_guard lock(mutex);
  auto found = guests.find(number);
  if (found == guests.end()) return;
  if (auto address = by_address.find(found->second.ip); address != by_address.end()) {
    if (--address->second == 0) by_address.erase(address);
  }
  guests.erase(found);
  changed.notify_all();
}

void LineListener::Impl::stop_accepting() {
  is_stopping = true;
  std::vector<std::shared_ptr<link::ServedConnection>> running;
  {
    std::lock_guard lock(mutex);
    for (auto& [number, guest] : guests) running.push_back(guest.served);
  }
  for (auto& served : running) served->begin_stop();
}

void LineListener::Impl::stop(std::chrono::milliseconds grace) {
  stop_accepting();
  // On the event loop's thread, so that no connection that is just being accepted is missed.
  loop.post([self = shared_from_this()] {
    boost::system::error_code ignored;
    self->acceptor.close(ignored);
    self->pause.cancel();
    self->file.remove();
    self->stop_accepting();
    std::lock_guard lock(self->mutex);
    self->has_stopped_accepting = true;
    self->changed.notify_all();
  });
  auto is_over = [this] { return guests.empty() && has_stopped_accepting; };
  std::unique_lock lock(mutex);
  if (changed.wait_for(lock, grace, is_over)) return;
  for (auto& [number, guest] : guests) {
    guest.connection->abort({core::ErrorCode::kShuttingDown, "the server is stopping", {}});
  }
  changed.wait_for(lock, std::chrono::seconds(5), is_over);
}

core::Result<std::unique_ptr<LineListener>> LineListener::start(link::EventLoop& loop,
                                                                const LineListenerOptions& options,
                                                                link::MessageHandler& handler) {
  auto impl = std::make_shared<Impl>(loop, options, handler);
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
  loop.post([impl] { impl->wait(); });
  return std::unique_ptr<LineListener>(new LineListener(std::move(impl)));
}

LineListener::LineListener(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
LineListener::~LineListener() { stop(std::chrono::milliseconds(0)); }

void LineListener::begin_stop() { impl_->stop_accepting(); }
void LineListener::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }
std::uint16_t LineListener::port() const { return impl_->port; }
const std::string& LineListener::url() const { return impl_->url; }
std::size_t LineListener::connections() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->guests.size();
}

}  // namespace league::transport::line
