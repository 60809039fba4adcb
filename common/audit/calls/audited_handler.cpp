#include "common/audit/calls/audited_handler.h"

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/schema/json_fields.h"

namespace league::audit::calls {
namespace {

/// One message between its arrival and its answer. The notes are shared with admission until then.
struct Pending {
  record::Record in;
  rpc::MessageContext context;
  std::shared_ptr<rpc::MessageNotes> notes;
  transport::link::ReplySlot slot;
};

std::string peer_address(const rpc::MessageContext& context) {
  return context.transport.connection ? context.transport.connection->remote_address
                                      : std::string();
}

record::Record reply_record(const record::Record& in, const transport::link::OutboundReply& reply) {
  record::Record out = record_of(reply, record::Direction::kOut, record::Kind::kReply);
  out.call = in.call;
  out.meter = in.meter;
  out.broadcast = record::is_worth_referring(reply.bytes.size());
  if (out.context.type == rpc::TransportType::kHttp) out.http_status = reply.http_status;
  if (reply.notes) out.notes = *reply.notes;
  if (out.notes.peer.empty()) out.notes.peer = in.notes.peer;
  if (out.notes.conversation_id.empty()) out.notes.conversation_id = in.notes.conversation_id;
  if (out.notes.match_id.empty()) out.notes.match_id = in.notes.match_id;
  out.elapsed = out.mono - in.mono;
  return out;
}

/// Whether `request`, a JSON-RPC message, only reads public data of a league manager: its status,
/// the table, the states of agents; called directly or by MCP's `tools/call`. Programs that watch a
/// league send such requests all the time, and they belong to no conversation. False for a message
/// longer than any such request needs to be. Source: docs/audit.md, "Files".
bool is_plain_read(std::string_view request) {
  constexpr std::size_t kLongest = 2048;
  constexpr std::array<std::string_view, 3> kReads{"get_league_status", "get_standings",
                                                   "get_agents"};
  if (request.size() > kLongest) return false;
  const auto frame = nlohmann::json::parse(request, nullptr, false);
  std::string name = schema::text_at(frame, "method");
  if (name == "tools/call") name = schema::text_at(schema::field_at(frame, "params"), "name");
  return std::ranges::find(kReads, name) != kReads.end();
}

/// Whether it was answered and only read data. The name by which it was handled comes first, to
/// avoid another parse.
bool is_answered_read(const record::Record& in, const record::Record& out, int http_status) {
  constexpr int kFirstRefusal = 300;
  return in.notes.message_type.starts_with("get_") && !in.notes.verdict && !out.notes.verdict &&
         http_status < kFirstRefusal && is_plain_read(in.body);
}

void finish(Pending& pending, transport::link::OutboundReply reply, record::RecordSink& log,
            const core::Clock& clock) {
  record::Record& in = pending.in;
  std::string address = std::move(in.notes.peer);
  if (pending.notes) in.notes = *pending.notes;
  if (in.notes.peer.empty()) in.notes.peer = std::move(address);
  reply.context = pending.context.for_response(clock);
  record::Record out = reply_record(in, reply);
  in.elapsed = out.elapsed;
  const bool is_carrier = in.notes.is_secret || (in.notes.is_carrier && !in.notes.verdict);
  if (!is_carrier && !is_answered_read(in, out, reply.http_status)) {
    log.append(std::move(in));
    log.append(std::move(out));
  }
  pending.slot.send(std::move(reply));
}

}  // namespace

void AuditedHandler::on_message(transport::link::Inbound message,
                                transport::link::ReplySlot reply) {
  record::Record in = record_of(message, record::Direction::kIn, record::Kind::kRequest);
  in.call = log_.next_call();
  in.meter = message.meter;
  in.notes.peer = peer_address(message.context);
  auto pending = std::make_shared<Pending>(
      Pending{std::move(in), message.context, message.notes, std::move(reply)});
  transport::link::ReplySlot audited([pending, this](transport::link::OutboundReply answer) {
    finish(*pending, std::move(answer), log_, clock_);
  });
  handler().on_message(std::move(message), std::move(audited));
}

}  // namespace league::audit::calls
