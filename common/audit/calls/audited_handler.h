#pragma once

#include <optional>
#include <utility>

#include "common/audit/record/record.h"
#include "common/core/clock.h"
#include "common/transport/link/message_handler.h"

namespace league::audit {

/// Puts every message that a handler receives and every answer that it gives into the conversation
/// log. Both records are handed over when the answer is sent, so admission has completed the first
/// by then; each exactly once, also if the handler forgets to answer. Reads that belong to no
/// conversation (is_plain_read) leave no record, unless they are refused. Thread-safe if the
/// handler is.
class AuditedHandler final : public transport::MessageHandler {
 public:
  /// All three outlive this object and every slot that came through it.
  AuditedHandler(transport::MessageHandler& handler, RecordSink& log, const core::Clock& clock)
      : handler_(handler), log_(log), clock_(clock) {}

  void on_message(transport::Inbound message, transport::ReplySlot reply) override;
  // What is no message is handed on without a record.
  transport::StreamAnswer on_stream(transport::StreamRequest request) override {
    return handler_.on_stream(std::move(request));
  }
  std::optional<transport::StreamRefusal> on_session_end(
      const rpc::MessageContext& context) override {
    return handler_.on_session_end(context);
  }
  void on_channel_closed(const transport::PeerChannel& channel) override {
    handler_.on_channel_closed(channel);
  }

 private:
  transport::MessageHandler& handler_;
  RecordSink& log_;
  const core::Clock& clock_;
};

}  // namespace league::audit
