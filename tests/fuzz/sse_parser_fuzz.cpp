// However an event stream is cut into pieces, the same events come out of it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/transport/link/sse_parser.h"

namespace {

struct Outcome {
  std::string events;
  std::string last_event_id;
  bool is_fine = true;
  bool operator==(const Outcome&) const = default;
};

Outcome read_in_pieces(std::string_view text, std::size_t size) {
  league::transport::link::SseParser parser({.max_line = 200, .max_event = 300});
  Outcome out;
  while (!text.empty()) {
    out.is_fine = parser.feed(text.substr(0, size), [&](league::transport::link::SseEvent event) {
      if (event.data.size() > 300) std::abort();
      out.events += event.type + '\n' + event.data + '\n' + event.id.value_or("-") + '\n' +
                    std::to_string(event.retry.value_or(std::chrono::milliseconds(-1)).count());
    });
    text.remove_prefix(std::min(size, text.size()));
  }
  if (out.is_fine != parser.fault().empty()) std::abort();
  out.last_event_id = parser.last_event_id();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT
  auto whole = read_in_pieces(text, size == 0 ? 1 : size);
  for (std::size_t piece : {1U, 2U, 7U}) {
    if (read_in_pieces(text, piece) != whole) std::abort();
  }
  return 0;
}
