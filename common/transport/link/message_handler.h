#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/rpc/delivery.h"
#include "common/transport/link/log_meter.h"

namespace league::transport {

/// How a stream of events is written.
struct StreamOptions {
  /// Names its events and keeps the last of them, so that a client whose connection broke continues
  /// with Last-Event-ID. Begins with an event that has an id and no data.
  bool is_resumable = false;
  /// How long a client should wait before it comes back; nothing: its own default.
  std::optional<std::chrono::milliseconds> retry = std::nullopt;
};

/// The way to a peer besides answers: notifications, and requests of ours, whose answers come as
/// messages. Thread-safe. Who holds one keeps no connection alive.
class PeerChannel {
 public:
  virtual ~PeerChannel() = default;
  /// How the stream is to be written; only before the first push, and only for HTTP: the others
  /// ignore it.
  virtual void configure(const StreamOptions& options) { (void)options; }
  /// Hands one JSON-RPC message over. False when the peer is gone, was dropped for reading too
  /// slowly, or cannot take a stream.
  virtual bool push(std::shared_ptr<const std::string> bytes) = 0;
  /// The same as an event with an id and a type of the caller's own, where the channel is a stream
  /// of events that is not resumable. Elsewhere it is a push, and what is no `message` is left out.
  virtual bool push_event(std::shared_ptr<const std::string> bytes, std::string_view id,
                          std::string_view type) {
    (void)id;
    return type == "message" ? push(std::move(bytes)) : is_open();
  }
  /// Ends the stream or connection; what was pushed is still delivered.
  virtual void close() = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
  /// Unique in this process, and the same for all messages of one connection or stream.
  [[nodiscard]] virtual const std::string& id() const = 0;
  /// Why it is closed, for people; empty while it is open, or where that is unknown.
  [[nodiscard]] virtual std::string close_reason() const { return {}; }
};

/// Sees a peer go that waits for its answer. Thread-safe.
class PeerWatch {
 public:
  virtual ~PeerWatch() = default;
  /// Runs `callback` once if the peer closes its connection before it is answered (or only its side
  /// of it: who sends no more is taken for gone), on a thread of the transport, so it must be
  /// short. Only while MessageHandler::on_message runs; a second call replaces the first.
  virtual void when_gone(std::function<void()> callback) = 0;
};

/// One message as a transport hands it up.
struct Inbound : rpc::Delivery {
  /// For what goes before or beside the answer; null where the transport has no such way. On HTTP
  /// the first push turns the answer into a stream of events, of which the answer is the last; it
  /// fails where the client does not accept one. On connections it is the connection.
  std::shared_ptr<PeerChannel> channel = nullptr;
  /// Null on connections, where on_channel_closed says it.
  std::shared_ptr<PeerWatch> watch = nullptr;
  /// Who writes the message down counts the bytes here. Null: nobody wants to know, or the message
  /// has not passed a gate.
  std::shared_ptr<LogMeter> meter = nullptr;
};

/// A client wants to listen without asking: GET with `Accept: text/event-stream`. A client that
/// comes back with Last-Event-ID is served by the transport where it knows the stream.
struct StreamRequest {
  rpc::MessageContext context;  ///< with the request's headers
  std::optional<std::string> last_event_id;
};

/// No stream, and why: a status and a text for people.
struct StreamRefusal {
  int http_status = 405;
  std::string text = "there is no stream at this path; send messages with POST";
};

/// The stream is opened.
struct StreamAcceptance {
  StreamOptions options;
  /// Called once, when the stream is open, before anything else is.
  std::function<void(std::shared_ptr<PeerChannel>)> opened;
};
using StreamAnswer = std::variant<StreamRefusal, StreamAcceptance>;

/// The answer to one inbound message. Empty `bytes` with status 202 or 204 is an acknowledgement
/// without a body. Its context is that of the request, reversed, once it is in the log.
struct OutboundReply : rpc::Delivery {
  int http_status = 200;  ///< for HTTP only; other transports ignore it
  /// Names and values of header fields (`Mcp-Session-Id`); for HTTP only, like the status.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Runs once when the bytes have been handed to the operating system or could not be; may be
  /// empty. Who answers a MATCH_RESULT_REPORT broadcasts from here, never before (protocol §9,
  /// lessons).
  std::function<void()> after_sent;
};

/// Answers one message exactly once, from any thread, at once or later. Movable; whoever lets go of
/// an unanswered slot has it answered with an internal error, so no peer waits for a forgotten
/// reply.
class ReplySlot {
 public:
  using Sink = std::function<void(OutboundReply)>;

  explicit ReplySlot(Sink sink) : sink_(std::move(sink)) {}
  ReplySlot(ReplySlot&& other) noexcept : sink_(std::exchange(other.sink_, nullptr)) {}
  ReplySlot& operator=(ReplySlot&& other) noexcept;
  ReplySlot(const ReplySlot&) = delete;
  ReplySlot& operator=(const ReplySlot&) = delete;
  ~ReplySlot();

  /// Sends the answer. A second call does nothing.
  void send(OutboundReply reply);
  [[nodiscard]] bool answered() const { return sink_ == nullptr; }

 private:
  void abandon();
  Sink sink_;
};

/// Receives every message of a server, from several threads at once. Must not block: what takes
/// time keeps the slot and answers later.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  virtual void on_message(Inbound message, ReplySlot reply) = 0;
  /// A client asks for a stream of its own. There is none unless this is overridden.
  virtual StreamAnswer on_stream(StreamRequest request);
  /// A client ends its session with DELETE. Returns a refusal, or nothing: ended.
  virtual std::optional<StreamRefusal> on_session_end(const rpc::MessageContext& context);
  /// The connection or stream behind a channel is gone. Called once for every connection and for
  /// each stream that was opened, also if no message came by it.
  virtual void on_channel_closed(const PeerChannel& channel) { (void)channel; }
};

}  // namespace league::transport
