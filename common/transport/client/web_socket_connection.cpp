#include "common/transport/client/web_socket_connection.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "common/transport/client/connection_parts.h"
#include "common/transport/client/dialer.h"
#include "common/transport/connection/web_socket_wire.h"
#include "common/transport/connection/wire_connection.h"

namespace league::transport::client {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using SocketError = boost::system::error_code;
using Wire = connection::WebSocketWire<PeerStream>;

constexpr std::string_view kSubprotocol = "mcp";

core::Error explain(const link::Endpoint& endpoint, const WebSocketOptions& options,
                    const Wire::Socket& socket, SocketError fault) {
  std::string text = "the connection to " + endpoint.url() + " ended: ";
  if (fault == websocket::error::closed) {
    const auto& reason = socket.reason();
    text += "the peer closed it with code " + std::to_string(reason.code);
    std::string said = link::excerpt_of({reason.reason.data(), reason.reason.size()});
    if (!said.empty()) text += " (" + said + ")";
  } else if (fault == beast::error::timeout) {
    text += "no sign of life for " + std::to_string(options.idle_timeout.count()) + " ms";
  } else if (fault == asio::error::eof) {
    text += "the peer disconnected without the closing handshake";
  } else if (fault == websocket::error::message_too_big) {
    text += "a message is larger than " + std::to_string(options.max_message) +
            " bytes (close code 1009)";
  } else {
    text += fault.message();
  }
  return {core::ErrorCode::kConnectionError, std::move(text), {}};
}

std::shared_ptr<link::MessageConnection> connection_over(
    link::EventLoop& loop, Wire::Socket socket, const link::Endpoint& endpoint,
    const WebSocketOptions& options, std::shared_ptr<const rpc::ConnectionInfo> info) {
  const std::string url = endpoint.url();
  const connection::WireEnd closed{
      {core::ErrorCode::kShuttingDown, "the connection to " + url + " was closed", {}},
      websocket::close_code::normal};
  auto wire = std::make_unique<Wire>(
      loop.context(), std::move(socket),
      Wire::Options{.close_timeout = options.close_timeout,
                    .binary = {core::ErrorCode::kInvalidReply,
                               url + " sent a binary message; MCP is text (close code 1003)",
                               {}},
                    .explain =
                        [endpoint, options](const Wire::Socket& ended, SocketError fault) {
                          return explain(endpoint, options, ended, fault);
                        },
                    .idle_timeout = options.idle_timeout});
  return connection::WireConnection::create(
      loop, std::move(wire),
      {.context = rpc::TransportContext::web_socket({}).with_connection(std::move(info)),
       .received = rpc::MessageDirection::kServerToClient,
       .max_queue = options.max_waiting,
       .flush_timeout = options.close_timeout,
       .closed = closed,
       .too_slow = {{core::ErrorCode::kConnectionError,
                     url + " was dropped: more than " + std::to_string(options.max_waiting) +
                         " bytes wait for it because it does not read",
                     {}}},
       .flush_failed = closed.why,
       .refusal = "the connection to " + url + " is closed"});
}

void prepare(Wire::Socket& socket, const WebSocketOptions& options, core::Clock::Steady deadline) {
  auto left = deadline - std::chrono::steady_clock::now();
  websocket::stream_base::timeout patience{};
  patience.handshake_timeout = std::min<core::Clock::Steady::duration>(left, std::chrono::hours(1));
  patience.idle_timeout = websocket::stream_base::none();
  socket.set_option(patience);
  socket.set_option(websocket::stream_base::decorator([&options](websocket::request_type& request) {
    request.set(beast::http::field::user_agent, "league/" LEAGUE_VERSION);
    request.set(beast::http::field::sec_websocket_protocol,
                beast::string_view(kSubprotocol.data(), kSubprotocol.size()));
    for (const auto& field : options.headers) {
      if (is_sendable(field)) request.insert(field.first, field.second);
    }
  }));
  socket.read_message_max(options.max_message);
}

/// Why the upgrade failed, if it did.
std::optional<ConnectFailure> failure_of(SocketError fault,
                                         const websocket::response_type& response,
                                         const link::Endpoint& endpoint) {
  const auto failed = [](core::ErrorCode code, std::string why) {
    return ConnectFailure{{code, std::move(why), {}}};
  };
  if (fault == websocket::error::upgrade_declined) {
    const int status = static_cast<int>(response.result_int());
    return ConnectFailure{refusal("GET", endpoint, status, response.body()), status};
  }
  if (fault == beast::error::timeout)
    return failed(core::ErrorCode::kTimeout, "the deadline has passed");
  if (fault) return failed(core::ErrorCode::kConnectionError, fault.message());
  auto chosen = response[beast::http::field::sec_websocket_protocol];
  if (chosen.empty() || chosen == beast::string_view(kSubprotocol.data(), kSubprotocol.size()))
    return std::nullopt;
  return failed(core::ErrorCode::kConnectionError,
                "the server chose the subprotocol " +
                    link::excerpt_of({chosen.data(), chosen.size()}) + ", which was not offered");
}

ConnectFailure named(ConnectFailure failure, const link::Endpoint& endpoint,
                     std::string_view phase) {
  if (failure.http_status == 0) {
    failure.error.message = "connecting to " + endpoint.url() + " failed at " + std::string(phase) +
                            ": " + failure.error.message;
  }
  return failure;
}

link::Task<ConnectOutcome> connect(link::EventLoop* loop, link::Endpoint endpoint,
                                   core::Clock::Steady deadline, WebSocketOptions options) {
  auto dialed = co_await dial(&loop->context(), endpoint, deadline);
  if (!dialed) co_return named({dialed.error()}, endpoint, "connect");
  Wire::Socket socket(std::move(dialed->stream));
  prepare(socket, options, deadline);
  websocket::response_type response;
  SocketError fault;
  co_await socket.async_handshake(response, endpoint.authority(), endpoint.path,
                                  asio::redirect_error(asio::use_awaitable, fault));
  if (auto failure = failure_of(fault, response, endpoint))
    co_return named(*std::move(failure), endpoint, "upgrade");
  co_return connection_over(*loop, std::move(socket), endpoint, options, std::move(dialed->info));
}

/// The task ends with the handshake's deadline at the latest, or with the event loop.
link::Task<void> connect_and_tell(link::EventLoop* loop, link::Endpoint endpoint,
                                  core::Clock::Steady deadline, WebSocketOptions options,
                                  HttpConnector::OpenedOrFailed opened) {
  opened(co_await connect(loop, std::move(endpoint), deadline, std::move(options)));
}

}  // namespace

WebSocketConnector::WebSocketConnector(link::EventLoop& loop, WebSocketOptions options)
    : loop_(loop), options_(std::move(options)) {}

void WebSocketConnector::open(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                              OpenedOrFailed opened) {
  if (endpoint.scheme != "ws" && endpoint.scheme != "wss") {
    return opened(ConnectFailure{
        {core::ErrorCode::kEndpointNotAllowed,
         "an endpoint " + endpoint.scheme + "://… is not a WebSocket; use ws:// or wss://",
         {}}});
  }
  asio::co_spawn(loop_.context(),
                 connect_and_tell(&loop_, endpoint, deadline, options_, std::move(opened)),
                 asio::detached);
}

}  // namespace league::transport::client
