#pragma once

#include <optional>
#include <utility>

#include "common/audit/record/record.h"
#include "common/core/clock.h"
#include "common/transport/link/message_handler.h"

namespace league::audit::calls {

/// Logs every message that a handler receives and every answer that it gives in the conversation
/// log. Both records are appended when the answer is sent, because by then admission has completed
/// the first; each exactly once, even if the handler forgets to answer. Data that is not a message
/// is not logged. Reads of public data, which belong to no conversation, and carriers of
/// messages that are logged anyway, are not logged unless they are refused. Thread-safe if the
/// handler is.
class AuditedHandler final : public transport::link::HandlerDecorator {
 public:
  /// All three outlive this object and every slot that came through it.
  AuditedHandler(transport::link::MessageHandler& handler, record::RecordSink& log,
                 const core::Clock& clock)
      : HandlerDecorator(handler), log_(log), clock_(clock) {}

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;

 private:
  record::RecordSink& log_;
  const core::Clock& clock_;
};

}  // namespace league::audit::calls
