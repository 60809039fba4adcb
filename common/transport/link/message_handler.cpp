#include "common/transport/link/message_handler.h"

namespace league::transport::link {

namespace {

constexpr std::string_view kForgotten =
    R"({"jsonrpc":"2.0","error":{"code":-32603,"message":"internal error: the message was not answered"},"id":null})";

}  // namespace

StreamAnswer MessageHandler::on_stream(StreamRequest) { return StreamRefusal{}; }

std::optional<StreamRefusal> MessageHandler::on_session_end(const rpc::MessageContext&) {
  return StreamRefusal{405, "there are no sessions at this path"};
}

ReplySlot& ReplySlot::operator=(ReplySlot&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  sink_ = std::exchange(other.sink_, nullptr);
  return *this;
}

ReplySlot::~ReplySlot() { abandon(); }

void ReplySlot::send(OutboundReply reply) {
  // Emptied first, because the sink may own the object that contains this slot.
  if (auto sink = std::exchange(sink_, nullptr)) sink(std::move(reply));
}

void ReplySlot::abandon() {
  if (sink_ == nullptr) return;
  OutboundReply reply;
  reply.bytes = rpc::SharedText::literal(kForgotten);
  reply.http_status = 500;
  reply.notes->verdict = core::ErrorCode::kInternalError;
  reply.notes->fault = "the message was not answered";
  send(std::move(reply));
}

}  // namespace league::transport::link
