#include "common/audit/record/record.h"

namespace league::audit {

std::string_view direction_name(Direction direction) {
  return direction == Direction::kIn ? "in" : "out";
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kRequest:
      return "request";
    case Kind::kReply:
      return "reply";
    case Kind::kFailure:
      return "failure";
  }
  return "";
}

void take_context(const rpc::MessageContext& context, Record& record) {
  record.context = context.transport;
  // Credentials are in there, and a queue of records would keep them all.
  if (auto* http = record.context.as_http()) http->headers = nullptr;
  record.session = context.session.session_id;
}

std::size_t memory_of(const Record& record) {
  return sizeof(Record) + (record.body ? record.body->size() : 0) + record.notes.fault.size() +
         record.notes.conversation_id.size();
}

}  // namespace league::audit
