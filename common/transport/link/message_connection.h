#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/rpc/delivery.h"
#include "common/rpc/frame_peek.h"
#include "common/rpc/id.h"
#include "common/transport/link/endpoint.h"

namespace league::transport::link {

/// The result of sending one message.
struct SendOutcome {
  std::optional<core::Error> error;  ///< the peer did not receive it, or refused it (HTTP)
  int http_status = 0;  ///< 0 where the transport has none
  rpc::MessageContext context{};  ///< of the answer's head (HTTP)
  bool was_sent = false;  ///< there is an error, but all bytes were passed to the system (HTTP)
};

/// One message to be sent: one JSON document without line feeds outside strings.
struct OutboundMessage : rpc::Delivery {
  /// The id of the request in `bytes`, if the sender knows it; null: unknown.
  rpc::Id id = {};
  /// For transports that have headers (`Mcp-Session-Id`); the others ignore them.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// The peer may receive it twice without harm, so it is sent again if its connection broke and it
  /// is not known whether it was received. Everything else is sent at most once (HTTP; the other
  /// transports send nothing again).
  bool is_repeatable = false;
  /// When the answer becomes useless; transports that wait for an answer give up then.
  core::Clock::Steady deadline = core::Clock::Steady::max();
  /// The answer is a stream that stays open, so the message does not count towards the limit of
  /// concurrent requests (HTTP).
  bool is_listening = false;
  /// Runs once: when the bytes were passed to the system, or on HTTP when the answer's head has
  /// arrived. If the answer is a refusal (status 400 or higher), runs after the message in its
  /// body, if any, was delivered, so that the peer's own error comes before the status. May be
  /// empty.
  std::function<void(const SendOutcome&)> done = nullptr;
  /// Runs at most once, after a `done` without an error: the answer broke off and will not arrive
  /// (HTTP). May be empty.
  std::function<void(const core::Error&)> lost = nullptr;
};

/// A received message: one JSON document, not parsed yet.
struct ReceivedMessage : rpc::Delivery {
  /// peek_frame(bytes), if the connection has already called it.
  std::optional<rpc::FramePeek> frame = std::nullopt;
  /// The request of ours in whose answer stream it arrived (HTTP); null if that is unknown.
  rpc::Id by_answer_to = {};
};

/// Takes what a connection receives. Called on one thread at a time, never after on_closed; must
/// not block.
class MessageReceiver {
 public:
  virtual ~MessageReceiver() = default;
  virtual void on_message(ReceivedMessage message) = 0;
  /// A message was too large and was discarded; the connection continues. `frame` is what could be
  /// read of it, `why` names the limit.
  virtual void on_oversized(const rpc::FramePeek& /*frame*/, const std::string& /*why*/) {}
  /// The peer will send nothing more, but may still read (the end of standard input, a half-closed
  /// socket). True: the receiver still has something to send and closes the connection itself.
  /// False: the connection closes now.
  virtual bool on_input_end() { return false; }
  /// Called once, last. kConnectionError with the cause (for a child: how it ended), or
  /// kShuttingDown if our side has closed the connection.
  virtual void on_closed(const core::Error& why) = 0;
};

/// A logical connection to one peer: it sends messages, receives messages and can be closed, and
/// nothing more. The code that uses it is the same for all transports. Thread-safe: several threads
/// may send, and messages go out in the order of the calls of send(). Source: message-level
/// transports (docs/decisions.md).
class MessageConnection {
 public:
  virtual ~MessageConnection() = default;

  /// Begins to receive. Once, before the first send; the receiver lives until on_closed has run.
  virtual void start(std::shared_ptr<MessageReceiver> receiver) = 0;
  /// Never blocks. If a peer does not read and more than the transport's limit is queued for it,
  /// the connection is closed.
  virtual void send(OutboundMessage message) = 0;
  /// Back-pressure: with false, nothing more is read from the peer until this is called with true.
  /// Takes effect at once when called from on_message, otherwise soon. Reading is on at first; this
  /// function never calls the receiver.
  virtual void set_reading(bool is_on) = 0;
  /// Sends the queued messages, then closes; on_closed follows. Further calls do nothing.
  virtual void close() = 0;

  [[nodiscard]] virtual rpc::TransportType transport_type() const = 0;
  /// The transport's part of the context of a message that would be sent now.
  [[nodiscard]] virtual rpc::TransportContext current_context() const = 0;
};

/// Opens connections. Thread-safe.
class Connector {
 public:
  using Opened = std::function<void(core::Result<std::shared_ptr<MessageConnection>>)>;

  virtual ~Connector() = default;
  /// Calls `opened` once, on any thread: with a connection that is not started yet, or with
  /// kTimeout, kConnectionError, kEndpointNotAllowed (a scheme that is not for this connector).
  virtual void connect(const Endpoint& endpoint, core::Clock::Steady deadline, Opened opened) = 0;
};

}  // namespace league::transport::link
