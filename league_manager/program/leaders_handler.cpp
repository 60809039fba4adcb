#include "league_manager/program/leaders_handler.h"

#include <memory>
#include <utility>

namespace league::league_manager {

using transport::link::OutboundReply;
using transport::link::ReplySlot;

void LeadersHandler::on_message(transport::link::Inbound message, ReplySlot reply) {
  if (leadership_ == nullptr) return handler().on_message(std::move(message), std::move(reply));
  auto slot = std::make_shared<ReplySlot>(std::move(reply));
  handler().on_message(
      std::move(message),
      ReplySlot([leadership = leadership_, slot = std::move(slot)](OutboundReply answer) {
        leadership->when_sure([slot, answer = std::make_shared<OutboundReply>(std::move(answer))] {
          slot->send(std::move(*answer));
        });
      }));
}

}  // namespace league::league_manager
