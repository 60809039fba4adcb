#pragma once

#include <string_view>

#include "common/transport/link/message_handler.h"

namespace league::agent::runtime {

/// Tells the operator that handling a message failed with an exception, which is always a fault of
/// ours: its text, and the conversation in which the log has the message.
void log_exception(const rpc::MessageNotes& notes, std::string_view what);

/// Logs every exception of a handler and rethrows it, so that the transport can clean up.
/// Thread-safe if the handler is.
class ExceptionGuard final : public transport::link::HandlerDecorator {
 public:
  using HandlerDecorator::HandlerDecorator;
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;
};

}  // namespace league::agent::runtime
