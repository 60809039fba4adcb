#include "league_manager/standby/leadership.h"

namespace league::league_manager::standby {

void LeadersHandler::on_message(transport::link::Inbound message,
                                transport::link::ReplySlot reply) {
  if (is_leading()) return handler().on_message(std::move(message), std::move(reply));
  std::lock_guard lock(mutex_);
  unanswered_.push_back(std::move(reply));
}

transport::link::StreamAnswer LeadersHandler::on_stream(transport::link::StreamRequest request) {
  if (is_leading()) return HandlerDecorator::on_stream(std::move(request));
  return transport::link::StreamRefusal{503, "this manager does not lead its league"};
}

}  // namespace league::league_manager::standby
