#include "common/journal/journal.h"

#include <future>
#include <utility>

namespace league::journal {

core::Result<void> append_and_wait(Journal& journal, std::vector<EventRecord> records) {
  std::promise<core::Result<void>> done;
  auto answer = done.get_future();
  journal.append(std::move(records),
                 [&done](core::Result<void> result) { done.set_value(std::move(result)); });
  return answer.get();
}

}  // namespace league::journal
