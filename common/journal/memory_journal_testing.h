#pragma once

#include <mutex>
#include <utility>

#include "common/journal/journal.h"

namespace league::journal {

/// A journal that lives as long as the object. Thread-safe; `durable` is called by `append` itself.
class MemoryJournal final : public Journal {
 public:
  void append(std::vector<EventRecord> records, Durable durable) override {
    {
      std::lock_guard lock(mutex_);
      for (auto& record : records) entries_.push_back({entries_.size() + 1, std::move(record)});
    }
    durable({});
  }
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override {
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
  [[nodiscard]] std::size_t size() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace league::journal
