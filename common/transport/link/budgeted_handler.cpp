#include "common/transport/link/budgeted_handler.h"

#include <string>

#include "common/rpc/frame_peek.h"

namespace league::transport::link {
namespace {

/// For Unix sockets, whose peers have no address.
constexpr const char* kThisMachine = "this machine";

/// `10.0.0.1` of `10.0.0.1:4711`, `::1` of `[::1]:4711`.
std::string host_of(const rpc::MessageContext& context) {
  if (!context.transport.connection) return kThisMachine;
  const std::string& shown = context.transport.connection->remote_address;
  std::string host = shown.substr(0, shown.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host.empty() ? kThisMachine : host;
}

}  // namespace

OutboundReply over_budget_reply(std::string_view request, std::chrono::milliseconds retry_after) {
  OutboundReply reply;
  const rpc::FramePeek frame = rpc::peek_frame(request);
  if (frame.kind == rpc::FrameKind::kNotification || frame.kind == rpc::FrameKind::kResponse) {
    reply.http_status = 202;  // no answer is expected
  } else {
    std::string id;
    frame.id.append_to(id);
    reply.bytes = over_budget_body(retry_after, id);
    reply.http_status = 429;
  }
  return reply;
}

void BudgetedHandler::on_message(Inbound message, ReplySlot reply) {
  const bool is_own_parent = message.context.transport.type == rpc::TransportType::kStdio;
  if (!message.meter && !is_own_parent) {
    auto pass = limiter_.admit(message.bytes, host_of(message.context));
    if (pass.retry_after) return reply.send(over_budget_reply(message.bytes, *pass.retry_after));
    message.meter = std::move(pass.meter);
  }
  handler().on_message(std::move(message), std::move(reply));
}

}  // namespace league::transport::link
