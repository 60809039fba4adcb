#include "common/audit/record/record.h"

#include <array>
#include <utility>

namespace league::audit::record {

std::string_view direction_name(Direction direction) {
  return direction == Direction::kIn ? "in" : "out";
}

std::string_view kind_name(Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"request", "reply", "failure", "note"};
  static_assert(kNames.size() == static_cast<std::size_t>(Kind::kNote) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

Record record_of(const rpc::Delivery& message, Direction direction, Kind kind) {
  Record record;
  record.direction = direction;
  record.kind = kind;
  record.time = message.context.timing.system_time;
  record.mono = message.context.timing.created;
  record.context = message.context.transport;
  // Headers contain credentials, and a queue of records would keep them all in memory.
  if (auto* http = record.context.as_http()) http->headers = nullptr;
  record.session = message.context.session;
  record.body = message.bytes;
  return record;
}

Record note_of(std::string name, std::string content, const core::Clock& clock) {
  Record record;
  record.kind = Kind::kNote;
  record.time = clock.utc_now();
  record.mono = clock.steady_now();
  record.notes.message_type = std::move(name);
  record.body = std::move(content);
  return record;
}

std::size_t memory_of(const Record& record) {
  return sizeof(Record) + record.body.size() + record.notes.fault.size() +
         record.notes.conversation_id.size();
}

}  // namespace league::audit::record
