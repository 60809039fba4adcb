#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "common/transport/link/message_handler.h"
#include "common/transport/link/request_gate.h"

namespace league::transport {

/// What is answered to a request that a gate has refused; no bytes where nobody waits for an
/// answer.
[[nodiscard]] OutboundReply over_budget_reply(std::string_view request,
                                              std::chrono::milliseconds retry_after);

/// Asks a gate before messages that come by connections (WebSockets, lines) reach a handler; those
/// beyond a budget are answered with a JSON-RPC error. What came over HTTP has passed the gate in
/// the front, and who is on the standard streams has started this program. Thread-safe if the
/// handler is.
class BudgetedHandler final : public HandlerDecorator {
 public:
  /// Both outlive this object.
  BudgetedHandler(MessageHandler& handler, RequestGate& gate)
      : HandlerDecorator(handler), gate_(gate) {}

  void on_message(Inbound message, ReplySlot reply) override;

 private:
  RequestGate& gate_;
};

}  // namespace league::transport
