#pragma once

#include "common/transport/link/message_handler.h"
#include "league_manager/program/leadership.h"

namespace league::league_manager {

/// Keeps answers back until it is certain that no other manager leads. Those that depend on the
/// journal wait for it anyway, but a refusal does not: a manager that was frozen would refuse what
/// its successor has ordered. As thread-safe as `handler`, which it outlives as little as
/// `leadership`.
class LeadersHandler final : public transport::link::HandlerDecorator {
 public:
  /// Passes everything on if `leadership` is null.
  LeadersHandler(transport::link::MessageHandler& handler, Leadership* leadership)
      : HandlerDecorator(handler), leadership_(leadership) {}

  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override;

 private:
  Leadership* const leadership_;
};

}  // namespace league::league_manager
