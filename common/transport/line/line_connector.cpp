#include "common/transport/line/line_connector.h"

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>
#include <vector>

#include "common/transport/line/unix_socket.h"

namespace league::transport::line {
namespace {

using boost::asio::ip::tcp;
constexpr std::chrono::milliseconds kUnixRetry{10};

std::shared_ptr<link::MessageConnection> line_connection(link::EventLoop& loop,
                                                         core::FileDescriptor socket,
                                                         rpc::TransportType type,
                                                         rpc::ConnectionInfo info,
                                                         const LineLimits& limits) {
  static std::atomic<std::uint64_t> next_number = 1;
  info.connection_id = std::string(rpc::to_string(type)) + "-call-" + std::to_string(next_number++);
  auto context = rpc::TransportContext::socket(type).with_connection(
      std::make_shared<const rpc::ConnectionInfo>(std::move(info)));
  return LineConnection::create(
      loop,
      {std::move(socket), {}, std::move(context), rpc::MessageDirection::kServerToClient, false},
      limits);
}

std::string shown_endpoint(const tcp::endpoint& endpoint) {
  return link::host_and_port(endpoint.address().to_string(), endpoint.port());
}

/// One attempt to reach a TCP endpoint, on the event loop's thread. Pending operations keep it
/// alive.
class TcpAttempt : public std::enable_shared_from_this<TcpAttempt> {
 public:
  TcpAttempt(link::EventLoop& loop, link::Endpoint endpoint, const LineLimits& limits,
             link::Connector::Opened opened)
      : loop_(loop),
        endpoint_(std::move(endpoint)),
        limits_(limits),
        opened_(std::move(opened)),
        socket_(loop.context()),
        resolver_(loop.context()),
        timer_(loop.context()) {}

  void begin(core::Clock::Steady deadline) {
    if (deadline != core::Clock::Steady::max()) {
      timer_.expires_at(deadline);
      timer_.async_wait([self = shared_from_this()](const boost::system::error_code& fault) {
        if (!fault) self->fail(core::ErrorCode::kTimeout, "the deadline came before a connection");
      });
    }
    boost::system::error_code fault;
    auto host = endpoint_.pinned_address.empty() ? endpoint_.host : endpoint_.pinned_address;
    auto address = boost::asio::ip::make_address(host, fault);
    if (!fault) return try_all({tcp::endpoint(address, endpoint_.port)});
    if (host == "localhost") {
      return try_all({tcp::endpoint(boost::asio::ip::address_v4::loopback(), endpoint_.port),
                      tcp::endpoint(boost::asio::ip::address_v6::loopback(), endpoint_.port)});
    }
    // Runs on a thread inside asio.
    resolver_.async_resolve(host, std::to_string(endpoint_.port),
                            [self = shared_from_this()](const boost::system::error_code& why,
                                                        const tcp::resolver::results_type& found) {
                              if (why)
                                return self->fail(core::ErrorCode::kConnectionError, why.message());
                              self->try_all({found.begin(), found.end()});
                            });
  }

 private:
  void try_all(std::vector<tcp::endpoint> addresses) {
    if (!opened_) return;
    addresses_ = std::move(addresses);
    boost::asio::async_connect(
        socket_, addresses_,
        [self = shared_from_this()](const boost::system::error_code& fault, const tcp::endpoint&) {
          if (fault) return self->fail(core::ErrorCode::kConnectionError, fault.message());
          self->succeed();
        });
  }
  void succeed() {
    boost::system::error_code fault;
    rpc::ConnectionInfo info;
    info.remote_address = shown_endpoint(socket_.remote_endpoint(fault));
    info.local_address = shown_endpoint(socket_.local_endpoint(fault));
    core::FileDescriptor descriptor(socket_.release(fault));
    link::set_no_delay(descriptor.get());
    finish(line_connection(loop_, std::move(descriptor), rpc::TransportType::kTcp, std::move(info),
                           limits_));
  }
  void fail(core::ErrorCode code, const std::string& why) { finish(core::Error{code, why, {}}); }
  void finish(core::Result<std::shared_ptr<link::MessageConnection>> result) {
    timer_.cancel();
    auto opened = std::exchange(opened_, nullptr);
    if (!opened) return;
    boost::system::error_code ignored;
    if (!result) socket_.close(ignored);
    resolver_.cancel();
    opened(std::move(result));
  }

  link::EventLoop& loop_;
  const link::Endpoint endpoint_;
  const LineLimits limits_;
  link::Connector::Opened opened_;  ///< empty once it was called
  tcp::socket socket_;
  tcp::resolver resolver_;
  boost::asio::steady_timer timer_;
  std::vector<tcp::endpoint> addresses_;
};

/// Connecting to a Unix socket does not block, but the listener's queue may be full.
void connect_unix(link::EventLoop& loop, const std::string& path, core::Clock::Steady deadline,
                  const LineLimits& limits, link::Connector::Opened opened) {
  bool would_block = false;
  auto socket = connect_to_unix(path, would_block);
  if (socket) {
    rpc::ConnectionInfo info;
    info.remote_address = path;
    return opened(line_connection(loop, *std::move(socket), rpc::TransportType::kUnix,
                                  std::move(info), limits));
  }
  auto now = std::chrono::steady_clock::now();
  if (!would_block) return opened(socket.error());
  if (now + kUnixRetry >= deadline) {
    return opened(core::Error{core::ErrorCode::kTimeout,
                              "the deadline came before the listener took the connection",
                              {}});
  }
  auto timer = std::make_shared<boost::asio::steady_timer>(loop.context(), kUnixRetry);
  timer->async_wait([&loop, timer, path, deadline, limits,
                     opened = std::move(opened)](const boost::system::error_code&) {
    connect_unix(loop, path, deadline, limits, opened);
  });
}

}  // namespace

LineConnector::LineConnector(link::EventLoop& loop, SubprocessOptions options)
    : loop_(loop), options_(std::move(options)) {}

void LineConnector::connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                            Opened opened) {
  if (endpoint.scheme == "tcp") {
    auto attempt =
        std::make_shared<TcpAttempt>(loop_, endpoint, options_.limits, std::move(opened));
    loop_.post([attempt, deadline] { attempt->begin(deadline); });
  } else if (endpoint.scheme == "unix") {
    loop_.post(
        [&loop = loop_, path = endpoint.path, deadline, limits = options_.limits,
         opened = std::move(opened)] { connect_unix(loop, path, deadline, limits, opened); });
  } else if (endpoint.scheme == "stdio") {
    opened(start_subprocess(loop_, endpoint.path, options_));
  } else {
    opened(core::Error{core::ErrorCode::kEndpointNotAllowed,
                       "lines are spoken to tcp:, unix: and stdio: endpoints only",
                       {}});
  }
}

}  // namespace league::transport::line
