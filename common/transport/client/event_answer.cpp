#include "common/transport/client/event_answer.h"

#include "common/rpc/frame_peek.h"

namespace league::transport {

namespace {

constexpr int kMaxVainAttempts = 5;

}  // namespace

void EventAnswer::begin_again() {
  ++vain_attempts_;
  parser_ = SseParser(limits_);
}

bool EventAnswer::feed(std::string_view bytes) {
  if (is_found_) return true;
  bool is_fine = parser_.feed(bytes, [this](SseEvent event) { take(std::move(event)); });
  if (!parser_.last_event_id().empty()) last_event_id_ = parser_.last_event_id();
  retry_ = parser_.retry().value_or(retry_);
  return is_fine;
}

bool EventAnswer::can_continue() const {
  return !last_event_id_.empty() && fault().empty() && vain_attempts_ < kMaxVainAttempts;
}

void EventAnswer::take(SseEvent event) {
  vain_attempts_ = 0;
  if (is_found_ || event.type != "message" || event.data.empty()) return;
  auto peek = rpc::peek_frame(event.data);
  if (peek.kind != rpc::FrameKind::kResponse || (!id_.is_null() && peek.id != id_)) return;
  is_found_ = true;
  metadata_.event_id = std::move(event.id);
  metadata_.event_type = std::move(event.type);
  metadata_.retry_after = event.retry;
  if (!parser_.last_event_id().empty()) metadata_.last_event_id = parser_.last_event_id();
  bytes_ = std::move(event.data);
}

}  // namespace league::transport
