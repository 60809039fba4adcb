#include "common/journal/memory_journal.h"

#include <utility>

namespace league::journal {

void MemoryJournal::append(std::vector<Record> records, Durable durable) {
  {
    std::lock_guard lock(mutex_);
    for (auto& record : records) entries_.push_back({entries_.size() + 1, std::move(record)});
  }
  durable({});
}

core::Result<void> MemoryJournal::replay(const Visitor& visit) const {
  std::vector<Entry> entries;
  {
    std::lock_guard lock(mutex_);
    entries = entries_;
  }
  for (const auto& entry : entries) {
    if (auto seen = visit(entry); !seen) return seen;
  }
  return {};
}

std::size_t MemoryJournal::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

void DiscardingJournal::append(std::vector<Record>, Durable durable) { durable({}); }

core::Result<void> DiscardingJournal::replay(const Visitor&) const { return {}; }

}  // namespace league::journal
