#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/rpc/context.h"
#include "common/rpc/message_notes.h"

namespace league::transport {

/// One message as a transport hands it up: the bytes of one JSON document and how it came.
struct Inbound {
  std::string bytes;
  rpc::MessageContext context;
  std::shared_ptr<rpc::MessageNotes> notes = std::make_shared<rpc::MessageNotes>();
};

/// The answer to one inbound message. Empty `bytes` with status 202 or 204 is an acknowledgement
/// without a body.
struct OutboundReply {
  std::string bytes;
  int http_status = 200;  ///< for HTTP only; other transports ignore it
  std::shared_ptr<rpc::MessageNotes> notes = std::make_shared<rpc::MessageNotes>();
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
};

}  // namespace league::transport
