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

namespace league::transport::link {

/// How an event stream is written.
struct StreamOptions {
  /// Names its events and keeps the last of them, so that a client whose connection broke continues
  /// with Last-Event-ID. Begins with an event that has an id and no data.
  bool is_resumable = false;
  /// How long a client should wait before it reconnects; nothing: the client's default.
  std::optional<std::chrono::milliseconds> retry = std::nullopt;
};

/// Sends a peer what is not an answer: notifications, and our own requests, whose answers arrive as
/// messages. Thread-safe. Holding one does not keep the connection open.
class PeerChannel {
 public:
  virtual ~PeerChannel() = default;
  /// How the stream is to be written; only before the first push, and only for HTTP: the others
  /// ignore it.
  virtual void configure(const StreamOptions& options) { (void)options; }
  /// Sends one JSON-RPC message. False if the peer is gone, was dropped for reading too slowly, or
  /// cannot take a stream.
  virtual bool push(std::shared_ptr<const std::string> bytes) = 0;
  /// Sends it as an event with the caller's own id and type, if the channel is an event stream that
  /// is not resumable. On other channels this is a push, and events of a type other than `message`
  /// are dropped.
  virtual bool push_event(std::shared_ptr<const std::string> bytes, std::string_view id,
                          std::string_view type) {
    (void)id;
    return type == "message" ? push(std::move(bytes)) : is_open();
  }
  /// Ends the stream or connection; messages pushed before are still delivered.
  virtual void close() = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
  /// Whether it is open while its client is disconnected, and waits for the client to return.
  [[nodiscard]] virtual bool is_away() const { return false; }
  /// Unique in this process, and the same for all messages of one connection or stream.
  [[nodiscard]] virtual const std::string& id() const = 0;
  /// Why it is closed, as text; empty while it is open or if the cause is unknown.
  [[nodiscard]] virtual std::string close_reason() const { return {}; }
};

/// Notices when a peer that waits for an answer disconnects. Thread-safe.
class PeerWatch {
 public:
  virtual ~PeerWatch() = default;
  /// Runs `callback` once if the peer closes its connection before it is answered, or only its
  /// sending side, which is treated alike. It runs on a thread of the transport, so it must be
  /// short. Only valid while MessageHandler::on_message runs; a second call replaces the first.
  virtual void when_gone(std::function<void()> callback) = 0;
};

/// One message as a transport delivers it.
struct Inbound : rpc::Delivery {
  /// For messages before or beside the answer; null where the transport cannot send any. On HTTP
  /// the first push turns the answer into an event stream that ends with the answer; it fails if
  /// the client does not accept one. On connections it is the connection.
  std::shared_ptr<PeerChannel> channel = nullptr;
  /// Null on connections, which use on_channel_closed.
  std::shared_ptr<PeerWatch> watch = nullptr;
  /// The log counts the message's bytes here. Null: nobody needs the count, or the message has not
  /// passed a rate limiter.
  std::shared_ptr<LogMeter> meter = nullptr;
};

/// A client opens a stream without a request: GET with `Accept: text/event-stream`. If it
/// reconnects with Last-Event-ID, the transport serves it where it knows the stream.
struct StreamRequest {
  rpc::MessageContext context;  ///< with the request's headers
  std::optional<std::string> last_event_id;
};

/// Refuses the stream with a status and a text.
struct StreamRefusal {
  int http_status = 405;
  std::string text = "there is no stream at this path; send messages with POST";
};

/// Accepts the stream.
struct StreamAcceptance {
  StreamOptions options;
  /// Called once, when the stream is open and before any other call.
  std::function<void(std::shared_ptr<PeerChannel>)> opened;
};
using StreamAnswer = std::variant<StreamRefusal, StreamAcceptance>;

/// The answer to one inbound message. Empty `bytes` with status 202 or 204 is an acknowledgement
/// without a body. Its context is that of the request, reversed, once it is in the log.
struct OutboundReply : rpc::Delivery {
  int http_status = 200;  ///< for HTTP only; other transports ignore it
  /// Names and values of header fields (`Mcp-Session-Id`); for HTTP only, like the status.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Runs once when the bytes have been passed to the operating system, or could not be sent; may
  /// be empty. A manager that answers a MATCH_RESULT_REPORT starts its broadcasts from here, never
  /// before (protocol 7.39).
  std::function<void()> after_sent;
};

/// Answers one message exactly once, from any thread, at once or later. Movable. If a slot is
/// destroyed unanswered, the peer gets an internal error, so no peer waits for a forgotten reply.
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

/// Receives every message of a server, from several threads at once. Must not block: slow work
/// keeps the slot and answers later.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  virtual void on_message(Inbound message, ReplySlot reply) = 0;
  /// A client asks for a stream of its own, which is refused unless this is overridden.
  virtual StreamAnswer on_stream(StreamRequest request);
  /// A client ends its session with DELETE. Returns a refusal, or nothing if the session has ended.
  virtual std::optional<StreamRefusal> on_session_end(const rpc::MessageContext& context);
  /// The connection or stream behind a channel is closed. Called once for every connection and
  /// every opened stream, even if it carried no message.
  virtual void on_channel_closed(const PeerChannel& channel) { (void)channel; }
};

/// Wraps another handler and passes on to it every call that a derived class does not override.
class HandlerDecorator : public MessageHandler {
 public:
  /// `handler` outlives this object.
  explicit HandlerDecorator(MessageHandler& handler) : handler_(handler) {}

  StreamAnswer on_stream(StreamRequest request) override {
    return handler_.on_stream(std::move(request));
  }
  std::optional<StreamRefusal> on_session_end(const rpc::MessageContext& context) override {
    return handler_.on_session_end(context);
  }
  void on_channel_closed(const PeerChannel& channel) override {
    handler_.on_channel_closed(channel);
  }

 protected:
  [[nodiscard]] MessageHandler& handler() { return handler_; }

 private:
  MessageHandler& handler_;
};

}  // namespace league::transport::link
