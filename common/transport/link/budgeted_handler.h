#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "common/transport/link/message_handler.h"
#include "common/transport/link/rate_limiter.h"

namespace league::transport {

/// What is answered to a request that a rate limiter has refused; no bytes where nobody waits for
/// an answer.
[[nodiscard]] OutboundReply over_budget_reply(std::string_view request,
                                              std::chrono::milliseconds retry_after);

/// Asks a rate limiter before messages that come by connections (WebSockets, lines) reach a
/// handler; those beyond a budget are answered with a JSON-RPC error. What came over HTTP has
/// passed the rate limiter in the front, and who is on the standard streams has started this
/// program. Thread-safe if the handler is.
class BudgetedHandler final : public HandlerDecorator {
 public:
  /// Both outlive this object.
  BudgetedHandler(MessageHandler& handler, RateLimiter& limiter)
      : HandlerDecorator(handler), limiter_(limiter) {}

  void on_message(Inbound message, ReplySlot reply) override;

 private:
  RateLimiter& limiter_;
};

}  // namespace league::transport
