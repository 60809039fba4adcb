#pragma once

#include <mutex>

#include "common/journal/journal.h"

namespace league::journal {

/// A journal that lives as long as the object, for tests. Thread-safe; `durable` is called by
/// `append` itself.
class MemoryJournal final : public Journal {
 public:
  void append(std::vector<Record> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

/// For a league without a data directory: forgets every record, so that its memory stays flat.
/// Thread-safe.
class DiscardingJournal final : public Journal {
 public:
  void append(std::vector<Record> records, Durable durable) override;
  [[nodiscard]] core::Result<void> replay(const Visitor& visit) const override;
};

}  // namespace league::journal
