#include "tests/support/recording.h"

namespace league::testing {

using nlohmann::json;

void Recording::append(const std::string& agent, audit::record::Record record) {
  std::lock_guard lock(mutex_);
  entries_.push_back({agent, std::move(record)});
}

Spoken Recording::read(const Entry& entry) {
  const auto& record = entry.record;
  Spoken spoken{.agent = entry.agent,
                .direction = record.direction,
                .kind = record.kind,
                .peer = record.notes.peer,
                .said_by = record.notes.said_by,
                .type = record.notes.message_type,
                .conversation_id = record.notes.conversation_id,
                .message = nullptr,
                .leniencies = record.notes.leniencies,
                .verdict = record.notes.verdict,
                .at = record.mono};
  if (record.body.empty()) return spoken;
  auto frame = json::parse(record.body, nullptr, false);
  if (!frame.is_object()) return spoken;
  for (const char* place : {"params", "result"}) {
    if (auto found = frame.find(place); found != frame.end()) spoken.message = *found;
  }
  return spoken;
}

std::vector<Spoken> Recording::all() const {
  std::lock_guard lock(mutex_);
  std::vector<Spoken> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_) all.push_back(read(entry));
  return all;
}

std::vector<Spoken> Recording::of(const std::string& agent) const {
  std::lock_guard lock(mutex_);
  std::vector<Spoken> own;
  for (const auto& entry : entries_) {
    if (entry.agent == agent) own.push_back(read(entry));
  }
  return own;
}

}  // namespace league::testing
