#pragma once

#include "common/transport/client/http_client_options.h"
#include "common/transport/link/event_loop.h"

namespace league::transport::client {

/// Options of connections to servers of MCP's Streamable HTTP.
struct StreamableHttpOptions {
  HttpHeaders headers;  ///< of every request, such as credentials; those of a message follow them
  HttpClientLimits limits;
  /// The delay before a broken stream is requested again, unless the server names one (`retry`).
  std::chrono::milliseconds retry{1000};
};

/// A logical connection to a server of MCP's Streamable HTTP: each message is a POST. An answer in
/// JSON comes as a message with HttpMetadata (headers and status), one in a stream as messages with
/// SseMetadata, both with the session id of the answer's head; an answer that breaks off after an
/// event with an id is asked for again with Last-Event-ID until the message's deadline.
/// OutboundMessage.done runs when the answer's head is here: with its status and headers; a status
/// that is not 2xx is an error there, and a JSON-RPC message in the body of such an answer is
/// delivered all the same. The same done reports a failure before the head; an answer that breaks
/// off later runs OutboundMessage.lost. The connection itself only closes by close(). Thread-safe.
class StreamableHttpConnection : public link::MessageConnection {
 public:
  using Done = std::function<void(const link::SendOutcome&)>;

  /// Opens the stream for the server's unsolicited messages and reopens it when it breaks, with
  /// Last-Event-ID if there is one, until close(). `done` runs once, with the outcome of the first
  /// attempt; 405 means that the server has no such stream and is no error. After any other refusal
  /// there are no more attempts.
  virtual void open_stream(HttpHeaders headers, Done done = nullptr) = 0;
  /// Abandons this request: closes its stream, which in 2026-07-28 cancels it. Its callbacks report
  /// kShuttingDown.
  virtual void abandon(const rpc::Id& id) = 0;
  /// Sends DELETE to end the session that `headers` name; 405 is no error (the server does not
  /// allow it).
  virtual void end_session(HttpHeaders headers, core::Clock::Steady deadline, Done done) = 0;
};

/// Nothing is sent before the first message. `loop` must outlive the connection.
[[nodiscard]] std::shared_ptr<StreamableHttpConnection> make_streamable_http_connection(
    link::EventLoop& loop, const link::Endpoint& endpoint, StreamableHttpOptions options = {});

/// Makes such connections for `http(s)://` endpoints, at once. Thread-safe.
class StreamableHttpConnector final : public link::Connector {
 public:
  explicit StreamableHttpConnector(link::EventLoop& loop, StreamableHttpOptions options = {});
  void connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override;

 private:
  link::EventLoop& loop_;
  StreamableHttpOptions options_;
};

}  // namespace league::transport::client
