#include "common/audit/calls/audited_caller.h"

#include <utility>

namespace league::audit::calls {
namespace {

record::Record request_record(const transport::link::OutboundCall& call) {
  record::Record record = record_of(call, record::Direction::kOut, record::Kind::kRequest);
  if (call.notes) record.notes = *call.notes;
  if (record.notes.peer.empty()) record.notes.peer = call.endpoint.authority();
  record.broadcast = call.budget == transport::link::Budget::kBroadcast;
  return record;
}

/// The fields that the record of the answer takes from that of the request.
struct Origin {
  std::string peer;
  std::string conversation_id;
  std::string match_id;
  rpc::TransportContext context;
  std::uint64_t call;
  core::Clock::Steady sent;
};

/// The request as it was sent, and when.
record::Record as_sent(record::Record request, const transport::link::CallOutcome& outcome,
                       Origin& origin) {
  if (!outcome.wire_request.empty()) request.body = outcome.wire_request;
  if (outcome.sent_at) {
    request.time = request.time.after(
        std::chrono::duration_cast<std::chrono::microseconds>(*outcome.sent_at - request.mono));
    request.mono = *outcome.sent_at;
    origin.sent = request.mono;
  }
  return request;
}

record::Record answer_record(const transport::link::CallOutcome& outcome, const Origin& origin,
                             const core::Clock& clock) {
  record::Record record = record_of(outcome, record::Direction::kIn,
                                    outcome.error ? record::Kind::kFailure : record::Kind::kReply);
  record.call = origin.call;
  record.time = clock.utc_now();
  record.mono = clock.steady_now();
  record.elapsed = record.mono - origin.sent;
  if (record.context.type == rpc::TransportType::kUnknown) record.context = origin.context;
  record.http_status = outcome.http_status;
  if (outcome.error) {
    record.notes.verdict = outcome.error->code;
    record.notes.fault = outcome.error->message;
  }
  if (!outcome.wire_answer.empty()) record.body = outcome.wire_answer;
  record.broadcast = record::is_worth_referring(record.body.size());
  return record;
}

/// Adds the notes of the completion, then facts from the request.
void complete(record::Record& record, const rpc::MessageNotes* notes, Origin& origin) {
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

/// An answer whose notes are not complete yet.
struct PendingAnswer {
  record::Record record;
  std::shared_ptr<rpc::MessageNotes> notes;
  Origin origin;
  bool is_written = false;

  void write(record::RecordSink& log) {
    if (std::exchange(is_written, true)) return;
    complete(record, notes.get(), origin);
    log.append(std::move(record));
  }
};

}  // namespace

void AuditedCaller::call(transport::link::OutboundCall call, Completion completion) {
  call.context = transport::link::context_of_call(call.endpoint, clock_);
  record::Record request = request_record(call);
  request.call = log_.next_call();
  Origin origin{request.notes.peer,     request.notes.conversation_id,
                request.notes.match_id, request.context,
                request.call,           request.mono};
  std::optional<record::Record> held;
  if (framing_ == Framing::kByUs) {
    log_.append(std::move(request));
  } else {
    held = std::move(request);
  }
  caller_.call(std::move(call), [this, origin = std::move(origin), held = std::move(held),
                                 completion = std::move(completion)](
                                    transport::link::CallOutcome outcome) mutable {
    if (held) log_.append(as_sent(std::move(*held), outcome, origin));
    auto record = [log = &log_, answer = std::make_shared<PendingAnswer>(PendingAnswer{
                                    answer_record(outcome, origin, clock_), outcome.notes,
                                    std::move(origin)})] { answer->write(*log); };
    outcome.record = record;
    if (completion) completion(std::move(outcome));
    record();
  });
}

}  // namespace league::audit::calls
