#pragma once

#include <string_view>

#include "common/transport/link/message_handler.h"

namespace league::agent {

/// Tells the operator that handling a message failed with an exception, which is a fault of ours:
/// what it was and in which conversation, so that the log shows the message.
void log_exception(const rpc::MessageNotes& notes, std::string_view what);

/// Lets no exception of a handler pass unsaid: logs it and throws it on, so that the transport ends
/// what is half done. Thread-safe if the handler is.
class ExceptionGuard final : public transport::HandlerDecorator {
 public:
  using HandlerDecorator::HandlerDecorator;
  void on_message(transport::Inbound message, transport::ReplySlot reply) override;
};

}  // namespace league::agent
