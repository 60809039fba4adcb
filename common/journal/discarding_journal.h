#pragma once

#include "common/journal/journal.h"

namespace league::journal {

/// For a league without a data directory: forgets every record, so that its memory stays flat.
/// Thread-safe.
class DiscardingJournal final : public Journal {
 public:
  void append(std::vector<EventRecord> /*records*/, Durable durable) override { durable({}); }
  [[nodiscard]] core::Result<void> replay(const Visitor& /*visit*/) const override { return {}; }
};

}  // namespace league::journal
