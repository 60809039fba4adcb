#include "common/transport/link/receive_buffer.h"

#include <utility>

namespace league::transport::link {

void ReceiveBuffer::start(std::shared_ptr<MessageReceiver> receiver) {
  if (is_started_) return;
  is_started_ = true;
  receiver_ = std::move(receiver);
  drain();
}

void ReceiveBuffer::deliver(ReceivedMessage message) {
  if (why_) return;
  held_.push_back(std::move(message));
  if (receiver_ && is_reading_) drain();
}

void ReceiveBuffer::close(core::Error why) {
  if (why_) return;
  why_ = std::move(why);
  drain();
}

void ReceiveBuffer::close_now(core::Error why) {
  held_.clear();
  close(std::move(why));
}

void ReceiveBuffer::set_reading(bool is_on) { is_reading_ = is_on; }

void ReceiveBuffer::drain() {
  if (is_draining_ || !receiver_) return;
  is_draining_ = true;
  while (is_reading_ && !held_.empty()) {
    ReceivedMessage next = std::move(held_.front());
    held_.pop_front();
    receiver_->on_message(std::move(next));
  }
  is_draining_ = false;
  if (why_ && held_.empty()) {
    if (auto receiver = std::exchange(receiver_, nullptr)) receiver->on_closed(*why_);
    return;
  }
  on_change_();
}

}  // namespace league::transport::link
