#include "common/audit/calls/audited_handler.h"

#include <memory>
#include <utility>

#include "common/audit/calls/plain_read.h"

namespace league::audit {
namespace {

/// One delivery between its arrival and its answer. The notes are shared with admission until then.
struct Delivery {
  Record in;
  std::shared_ptr<rpc::MessageNotes> notes;
  transport::ReplySlot slot;
};

std::string peer_address(const rpc::MessageContext& context) {
  return context.transport.connection ? context.transport.connection->remote_address
                                      : std::string();
}

Record reply_record(const Record& in, const transport::OutboundReply& reply) {
  Record out;
  out.direction = Direction::kOut;
  out.kind = Kind::kReply;
  out.call = in.call;
  out.transport = in.transport;
  out.context = in.context;
  out.session = in.session;
  out.meter = in.meter;
  out.broadcast = is_worth_referring(reply.bytes.size());
  out.http_status = reply.http_status;
  if (reply.notes) out.notes = *reply.notes;
  if (out.notes.peer.empty()) out.notes.peer = in.notes.peer;
  if (out.notes.conversation_id.empty()) out.notes.conversation_id = in.notes.conversation_id;
  if (out.notes.match_id.empty()) out.notes.match_id = in.notes.match_id;
  if (!reply.bytes.empty()) out.body = std::make_shared<const std::string>(reply.bytes);
  return out;
}

/// Whether it was answered and only read. The name by which it was handled comes first, so that
/// nothing else is parsed once more.
bool is_answered_read(const Record& in, const Record& out, int http_status) {
  constexpr int kFirstRefusal = 300;
  return in.notes.message_type.starts_with("get_") && !in.notes.verdict && !out.notes.verdict &&
         http_status < kFirstRefusal && is_plain_read(*in.body);
}

void finish(Delivery& delivery, transport::OutboundReply reply, RecordSink& log,
            const core::Clock& clock) {
  Record& in = delivery.in;
  std::string address = std::move(in.notes.peer);
  if (delivery.notes) in.notes = *delivery.notes;
  if (in.notes.peer.empty()) in.notes.peer = std::move(address);
  Record out = reply_record(in, reply);
  if (out.transport != "http") out.http_status = 0;
  out.time = clock.utc_now();
  out.mono = clock.steady_now();
  out.elapsed = in.elapsed = out.mono - in.mono;
  if (!is_answered_read(in, out, reply.http_status)) {
    log.append(std::move(in));
    log.append(std::move(out));
  }
  delivery.slot.send(std::move(reply));
}

}  // namespace

void AuditedHandler::on_message(transport::Inbound message, transport::ReplySlot reply) {
  Record in;
  in.call = log_.next_call();
  in.time = clock_.utc_now();
  in.mono = clock_.steady_now();
  in.transport = rpc::to_string(message.context.transport.type);
  in.meter = message.meter;
  take_context(message.context, in);
  in.notes.peer = peer_address(message.context);
  in.body = std::make_shared<const std::string>(message.bytes);
  auto delivery =
      std::make_shared<Delivery>(Delivery{std::move(in), message.notes, std::move(reply)});
  transport::ReplySlot audited([delivery, this](transport::OutboundReply answer) {
    finish(*delivery, std::move(answer), log_, clock_);
  });
  handler_.on_message(std::move(message), std::move(audited));
}

}  // namespace league::audit
