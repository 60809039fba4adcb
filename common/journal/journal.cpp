#include "common/journal/journal.h"

#include <utility>

#include "common/core/await.h"

namespace league::journal {

core::Result<void> append_and_wait(Journal& journal, std::vector<EventRecord> records) {
  return core::await<core::Result<void>>(
      [&](auto done) { journal.append(std::move(records), done); });
}

}  // namespace league::journal
