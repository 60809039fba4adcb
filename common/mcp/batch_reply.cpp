#include "common/mcp/batch_reply.h"

#include "common/rpc/codec.h"

namespace league::mcp {

transport::ReplySlot BatchReply::part() {
  return transport::ReplySlot(
      [self = shared_from_this()](transport::OutboundReply reply) { self->add(std::move(reply)); });
}

void BatchReply::add(transport::OutboundReply part) {
  std::unique_lock lock(mutex_);
  if (!part.bytes.empty()) parts_.push_back(part.bytes.str());
  if (part.after_sent) after_sent_.push_back(std::move(part.after_sent));
  if (--missing_ > 0) return;
  lock.unlock();
  transport::OutboundReply whole;
  whole.bytes = rpc::encode_batch(parts_);
  whole.http_status = parts_.empty() ? 202 : 200;
  whole.after_sent = [after = std::move(after_sent_)] {
    for (const auto& run : after) run();
  };
  slot_.send(std::move(whole));
}

}  // namespace league::mcp
