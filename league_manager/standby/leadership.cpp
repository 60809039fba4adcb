#include "league_manager/standby/leadership.h"

namespace league::league_manager {

void LeadersHandler::on_message(transport::Inbound message, transport::ReplySlot reply) {
  if (is_leading()) return handler().on_message(std::move(message), std::move(reply));
  std::lock_guard lock(mutex_);
  unanswered_.push_back(std::move(reply));
}

transport::StreamAnswer LeadersHandler::on_stream(transport::StreamRequest request) {
  if (is_leading()) return HandlerDecorator::on_stream(std::move(request));
  return transport::StreamRefusal{503, "this manager does not lead its league"};
}

}  // namespace league::league_manager
