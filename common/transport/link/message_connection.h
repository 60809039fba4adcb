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

namespace league::transport {

/// What became of one message that was sent.
struct SendOutcome {
  std::optional<core::Error> error;  ///< the peer has not got it, or refused it (HTTP)
  int http_status = 0;  ///< 0 where the transport has none
  rpc::MessageContext context{};  ///< of the answer's head (HTTP)
};

/// One message to be sent: one JSON document without line feeds outside strings.
struct OutboundMessage : rpc::Delivery {
  /// Of the request in `bytes`, where the sender knows it; null says nothing.
  rpc::Id id = {};
  /// For transports that have headers (`Mcp-Session-Id`); the others ignore them.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// The answer is of no use later; transports that wait for one give up then.
  core::Clock::Steady deadline = core::Clock::Steady::max();
  /// Its answer is a stream that stays open, so it takes no place away from other messages (HTTP).
  bool is_listening = false;
  /// Runs once: when the bytes are with the system, on HTTP when the answer's head is here; where
  /// that is a refusal (a status of 400 and more), after the message that its body may carry was
  /// delivered, so that a peer's own error is not overtaken by the status. May be empty.
  std::function<void(const SendOutcome&)> done = nullptr;
  /// Runs at most once, after a `done` without an error: the answer broke off and will not come
  /// (HTTP). May be empty.
  std::function<void(const core::Error&)> lost = nullptr;
};

/// What came by a connection: one JSON document, not yet parsed.
struct ReceivedMessage : rpc::Delivery {
  /// peek_frame(bytes), where the connection had to look itself.
  std::optional<rpc::FramePeek> frame = std::nullopt;
  /// Our request whose answer's stream it came by (HTTP); null where that is unknown.
  rpc::Id by_answer_to = {};
};

/// Takes what a connection receives. Called on one thread at a time, never after on_closed; must
/// not block.
class MessageReceiver {
 public:
  virtual ~MessageReceiver() = default;
  virtual void on_message(ReceivedMessage message) = 0;
  /// A message was too large and thrown away; the connection goes on. `frame` is what could be
  /// seen of it, `why` names the limit.
  virtual void on_oversized(const rpc::FramePeek& /*frame*/, const std::string& /*why*/) {}
  /// The peer will say nothing more, but may still read (the end of standard input, a half-closed
  /// socket). True: the receiver has something left to send and closes the connection itself.
  /// False: the connection closes now.
  virtual bool on_input_end() { return false; }
  /// Once, last. kConnectionError with the cause (for a child: how it ended), or kShuttingDown for
  /// a close of ours.
  virtual void on_closed(const core::Error& why) = 0;
};

/// A logical connection to one peer: it sends, receives and closes messages, and nothing more.
/// Everything above is the same for all transports. Thread-safe: several threads may send, and
/// messages go out in the order in which they were handed over. Source: message-level transports
/// (docs/decisions.md).
class MessageConnection {
 public:
  virtual ~MessageConnection() = default;

  /// Begins to receive. Once, before the first send; the receiver lives until on_closed has run.
  virtual void start(std::shared_ptr<MessageReceiver> receiver) = 0;
  /// Never blocks. A peer that does not read while more than the transport's limit waits for it is
  /// dropped: the connection closes.
  virtual void send(OutboundMessage message) = 0;
  /// Back-pressure: with false nothing more is read from the peer until it is called with true. In
  /// effect at once when called from on_message, else soon. Reading is on from the start; never
  /// calls the receiver from within.
  virtual void set_reading(bool is_on) = 0;
  /// Sends what waits, then closes; on_closed follows. Further calls do nothing.
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

}  // namespace league::transport
