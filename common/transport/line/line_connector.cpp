#include "common/transport/line/line_connector.h"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>
#include <vector>

#include "common/transport/connection/wire_connection.h"
#include "common/transport/line/unix_socket.h"
#include "common/transport/link/task.h"

namespace league::transport::line {
namespace {

using boost::asio::ip::tcp;
using Connected = core::Result<std::shared_ptr<link::MessageConnection>>;
constexpr std::chrono::milliseconds kUnixRetry{10};

Connected call_connection(link::EventLoop& loop, core::FileDescriptor socket,
                          rpc::TransportType type, rpc::ConnectionInfo info,
                          const LineLimits& limits) {
  static std::atomic<std::uint64_t> next_number = 1;
  info.connection_id = std::string(rpc::to_string(type)) + "-call-" + std::to_string(next_number++);
  auto context = rpc::TransportContext::socket(type).with_connection(
      std::make_shared<const rpc::ConnectionInfo>(std::move(info)));
  return std::shared_ptr<link::MessageConnection>(line_connection(
      loop,
      {std::move(socket), {}, std::move(context), rpc::MessageDirection::kServerToClient, false},
      limits));
}

std::string shown_endpoint(const tcp::endpoint& endpoint) {
  return link::host_and_port(endpoint.address().to_string(), endpoint.port());
}

link::Task<std::vector<tcp::endpoint>> find(tcp::resolver* resolver, link::Endpoint to,
                                            boost::system::error_code* fault) {
  const auto& host = to.pinned_address.empty() ? to.host : to.pinned_address;
  const auto address = boost::asio::ip::make_address(host, *fault);
  if (!*fault) co_return std::vector{tcp::endpoint(address, to.port)};
  *fault = {};
  if (host == "localhost") {
    co_return std::vector{tcp::endpoint(boost::asio::ip::address_v4::loopback(), to.port),
                          tcp::endpoint(boost::asio::ip::address_v6::loopback(), to.port)};
  }
  // Runs on a thread inside asio.
  auto found = co_await resolver->async_resolve(
      host, std::to_string(to.port),
      boost::asio::redirect_error(boost::asio::use_awaitable, *fault));
  co_return std::vector<tcp::endpoint>(found.begin(), found.end());
}

link::Task<Connected> connect_tcp(link::EventLoop* loop, link::Endpoint endpoint,
                                  core::Clock::Steady deadline, LineLimits limits) {
  tcp::resolver resolver(loop->context());
  tcp::socket socket(loop->context());
  bool is_late = false;
  link::Alarm late(loop->context(), [&] {
    is_late = true;
    boost::system::error_code ignored;
    resolver.cancel();
    socket.close(ignored);
  });
  if (deadline != core::Clock::Steady::max()) late.set(deadline);
  boost::system::error_code fault;
  const auto addresses = co_await find(&resolver, endpoint, &fault);
  if (!fault && !is_late) {
    co_await boost::asio::async_connect(
        socket, addresses, boost::asio::redirect_error(boost::asio::use_awaitable, fault));
  }
  if (is_late) {
    co_return core::Error{core::ErrorCode::kTimeout, "the deadline came before a connection", {}};
  }
  if (fault) co_return core::Error{core::ErrorCode::kConnectionError, fault.message(), {}};
  rpc::ConnectionInfo info;
  info.remote_address = shown_endpoint(socket.remote_endpoint(fault));
  info.local_address = shown_endpoint(socket.local_endpoint(fault));
  core::FileDescriptor descriptor(socket.release(fault));
  link::set_no_delay(descriptor.get());
  co_return call_connection(*loop, std::move(descriptor), rpc::TransportType::kTcp, std::move(info),
                            limits);
}

/// Connecting to a Unix socket does not block, but the listener's queue may be full.
link::Task<Connected> connect_unix(link::EventLoop* loop, std::string path,
                                   core::Clock::Steady deadline, LineLimits limits) {
  boost::asio::steady_timer pause(loop->context());
  for (;;) {
    bool would_block = false;
    auto socket = connect_to_unix(path, would_block);
    if (socket) {
      rpc::ConnectionInfo info;
      info.remote_address = path;
      co_return call_connection(*loop, *std::move(socket), rpc::TransportType::kUnix,
                                std::move(info), limits);
    }
    if (!would_block) co_return socket.error();
    if (std::chrono::steady_clock::now() + kUnixRetry >= deadline) {
      co_return core::Error{core::ErrorCode::kTimeout,
                            "the deadline came before the listener took the connection",
                            {}};
    }
    pause.expires_after(kUnixRetry);
    co_await pause.async_wait(boost::asio::use_awaitable);
  }
}

/// The task ends at its deadline, or with the event loop.
link::Task<void> tell(link::Task<Connected> connecting, link::Connector::Opened opened) {
  opened(co_await std::move(connecting));
}

}  // namespace

LineConnector::LineConnector(link::EventLoop& loop, SubprocessOptions options)
    : loop_(loop), options_(std::move(options)) {}

void LineConnector::connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                            Opened opened) {
  const auto run = [&](link::Task<Connected> connecting) {
    boost::asio::co_spawn(loop_.context(), tell(std::move(connecting), std::move(opened)),
                          boost::asio::detached);
  };
  if (endpoint.scheme == "tcp") {
    run(connect_tcp(&loop_, endpoint, deadline, options_.limits));
  } else if (endpoint.scheme == "unix") {
    run(connect_unix(&loop_, endpoint.path, deadline, options_.limits));
  } else if (endpoint.scheme == "stdio") {
    opened(start_subprocess(loop_, endpoint.path, options_));
  } else {
    opened(core::Error{core::ErrorCode::kEndpointNotAllowed,
                       "lines are spoken to tcp:, unix: and stdio: endpoints only",
                       {}});
  }
}

}  // namespace league::transport::line
