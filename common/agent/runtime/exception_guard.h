#pragma once

#include <string_view>

#include "common/transport/link/message_handler.h"

namespace league::agent {

/// Tells the operator that handling a message failed with an exception, which is a fault of ours:
/// what it was and in which conversation, so that the log shows the message.
void log_exception(const rpc::MessageNotes& notes, std::string_view what);

/// Lets no exception of a handler pass unsaid: logs it and throws it on, so that the transport ends
/// what is half done. Thread-safe if the handler is.
class ExceptionGuard final : public transport::MessageHandler {
 public:
  /// `handler` outlives this object.
  explicit ExceptionGuard(transport::MessageHandler& handler) : handler_(handler) {}

  void on_message(transport::Inbound message, transport::ReplySlot reply) override;
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
};

}  // namespace league::agent
