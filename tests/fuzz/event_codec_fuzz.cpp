// Hostile records of a journal: `TYPE`, a line feed, the payload. Reading never throws, and an
// event that was read is the same after it was written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "league_manager/events/event_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::size_t end = std::min(input.find('\n'), input.size());
  league::journal::EventRecord record{std::string(input.substr(0, end)),
                                      std::string(input.substr(std::min(end + 1, input.size())))};
  auto event = league::league_manager::events::from_record(record);
  if (!event) {
    if (event.error().message.empty()) std::abort();
    return 0;
  }
  auto again = league::league_manager::events::from_record(
      league::league_manager::events::to_record(*event));
  if (!again || !(*again == *event)) std::abort();
  return 0;
}
