#include "common/transport/http/batch_handler.h"

#include <algorithm>

#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"

namespace league::transport::http {
namespace {

constexpr std::size_t kMostInBatch = 64;

/// What begins as a batch and comes over HTTP from a client that is in no MCP session, where the
/// session's revision says whether there are batches.
bool may_be_league_batch(const link::Inbound& message) {
  if (!message.bytes.view().starts_with('[')) return false;
  const auto* http = message.context.transport.as_http();
  if (http == nullptr || http->headers == nullptr) return false;
  return !rpc::find_header(*http->headers, "Mcp-Session-Id") &&
         !rpc::find_header(*http->headers, "Mcp-Protocol-Version");
}

}  // namespace

link::ReplySlot BatchReply::part() {
  return link::ReplySlot(
      [self = shared_from_this()](link::OutboundReply reply) { self->add(std::move(reply)); });
}

void BatchReply::add(link::OutboundReply part) {
  {
    std::lock_guard lock(mutex_);
    if (!part.bytes.empty()) parts_.push_back(part.bytes.str());
    if (part.after_sent) after_sent_.push_back(std::move(part.after_sent));
    if (--missing_ > 0) return;
  }
  link::OutboundReply whole;
  whole.bytes = rpc::encode_batch(parts_);
  whole.http_status = parts_.empty() ? 202 : 200;
  whole.after_sent = [after = std::move(after_sent_)] {
    for (const auto& run : after) run();
  };
  slot_.send(std::move(whole));
}

void BatchHandler::on_message(link::Inbound message, link::ReplySlot reply) {
  if (!may_be_league_batch(message))
    return handler().on_message(std::move(message), std::move(reply));
  const auto parts = rpc::batch_messages(message.bytes, kMostInBatch);
  const auto is_taken = [this](std::string_view part) {
    const auto frame = rpc::peek_frame(part);
    return frame.kind == rpc::FrameKind::kRequest && takes_(frame.method);
  };
  if (!parts || !std::ranges::all_of(*parts, is_taken))
    return handler().on_message(std::move(message), std::move(reply));
  auto whole = std::make_shared<BatchReply>(parts->size(), std::move(reply));
  for (const auto part : *parts) {
    link::Inbound one;
    one.bytes = std::string(part);
    one.context = message.context;
    one.meter = message.meter;  // the RateLimiter has charged the batch for all of them
    handler().on_message(std::move(one), whole->part());
  }
}

}  // namespace league::transport::http
