#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "common/transport/link/message_handler.h"
#include "common/transport/link/rate_limiter.h"

namespace league::transport::link {

/// The answer to a request that a rate limiter has refused; without bytes if no answer is expected.
[[nodiscard]] OutboundReply over_budget_reply(std::string_view request,
                                              std::chrono::milliseconds retry_after);

/// Checks messages that arrive on connections (WebSockets, lines) with a rate limiter before they
/// reach a handler; messages beyond a budget get a JSON-RPC error. HTTP messages have already
/// passed the rate limiter in the front, and the peer on the standard streams has started this
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

}  // namespace league::transport::link
