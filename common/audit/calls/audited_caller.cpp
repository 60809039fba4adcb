#include "common/audit/calls/audited_caller.h"

#include <memory>
#include <utility>

namespace league::audit {
namespace {

/// What the record of the answer takes over from the request.
struct Origin {
  std::string peer;
  std::string conversation_id;
  std::string match_id;
  std::string transport;
  std::uint64_t call;
  core::Clock::Steady sent;
};

std::string_view transport_of(std::string_view scheme) {
  if (scheme.starts_with("sse+")) return rpc::to_string(rpc::TransportType::kSse);
  if (scheme.starts_with("ws")) return rpc::to_string(rpc::TransportType::kWebSocket);
  if (scheme == "stdio") return rpc::to_string(rpc::TransportType::kSubprocess);
  return scheme == "https" ? rpc::to_string(rpc::TransportType::kHttp) : scheme;
}

Record request_record(const transport::OutboundCall& call, const core::Clock& clock) {
  Record record;
  record.direction = Direction::kOut;
  record.kind = Kind::kRequest;
  record.time = clock.utc_now();
  record.mono = clock.steady_now();
  record.transport = transport_of(call.endpoint.scheme);
  if (call.notes) record.notes = *call.notes;
  if (record.notes.peer.empty()) record.notes.peer = call.endpoint.authority();
  record.body = call.bytes;
  record.broadcast = call.budget == transport::Budget::kBroadcast;
  return record;
}

/// The request as it was on the wire, and when.
Record as_sent(Record request, const transport::CallOutcome& outcome, Origin& origin) {
  if (outcome.wire_request) request.body = outcome.wire_request;
  if (outcome.sent_at) {
    request.time = request.time.after(
        std::chrono::duration_cast<std::chrono::microseconds>(*outcome.sent_at - request.mono));
    request.mono = *outcome.sent_at;
    origin.sent = request.mono;
  }
  return request;
}

Record answer_record(const transport::CallOutcome& outcome, const Origin& origin,
                     const core::Clock& clock) {
  Record record;
  record.direction = Direction::kIn;
  record.kind = outcome.error ? Kind::kFailure : Kind::kReply;
  record.call = origin.call;
  record.time = clock.utc_now();
  record.mono = clock.steady_now();
  record.elapsed = record.mono - origin.sent;
  record.transport = origin.transport;
  if (outcome.context.transport.type != rpc::TransportType::kUnknown) {
    record.transport = rpc::to_string(outcome.context.transport.type);
    take_context(outcome.context, record);
  }
  record.http_status = outcome.http_status;
  if (outcome.error) {
    record.notes.verdict = outcome.error->code;
    record.notes.fault = outcome.error->message;
  }
  if (outcome.wire_answer) {
    record.body = outcome.wire_answer;
  } else if (!outcome.bytes.empty()) {
    record.body = std::make_shared<const std::string>(outcome.bytes);
  }
  record.broadcast = record.body && is_worth_referring(record.body->size());
  return record;
}

/// Adds what the completion noted, then what is known from the request.
void complete(Record& record, const rpc::MessageNotes* notes, Origin& origin) {
  auto verdict = record.notes.verdict;
  std::string fault = std::move(record.notes.fault);
  if (notes != nullptr) record.notes = *notes;
  if (!record.notes.verdict && verdict) {
    record.notes.verdict = verdict;
    record.notes.fault = std::move(fault);
  }
  if (record.notes.peer.empty()) record.notes.peer = std::move(origin.peer);
  if (record.notes.conversation_id.empty())
    record.notes.conversation_id = std::move(origin.conversation_id);
  if (record.notes.match_id.empty()) record.notes.match_id = std::move(origin.match_id);
}

}  // namespace

void AuditedCaller::call(transport::OutboundCall call, Completion completion) {
  Record request = request_record(call, clock_);
  request.call = log_.next_call();
  Origin origin{request.notes.peer,     request.notes.conversation_id,
                request.notes.match_id, request.transport,
                request.call,           request.mono};
  std::optional<Record> held;
  if (framing_ == Framing::kByUs) {
    log_.append(std::move(request));
  } else {
    held = std::move(request);
  }
  caller_.call(std::move(call),
               [this, origin = std::move(origin), held = std::move(held),
                completion = std::move(completion)](transport::CallOutcome outcome) mutable {
                 if (held) log_.append(as_sent(std::move(*held), outcome, origin));
                 Record answer = answer_record(outcome, origin, clock_);
                 std::shared_ptr<rpc::MessageNotes> notes = outcome.notes;
                 if (completion) completion(std::move(outcome));
                 complete(answer, notes.get(), origin);
                 log_.append(std::move(answer));
               });
}

}  // namespace league::audit
